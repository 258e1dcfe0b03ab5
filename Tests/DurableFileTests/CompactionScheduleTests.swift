import FaultTestSupport
import FileTestSupport
import TestSupport
import Testing

@testable import DurableFile

struct CompactionScheduleTests {
    private func position(_ size: Int64, damaged: Int = 0, inode: UInt64 = 1) -> LogPosition {
        var position = LogPosition()
        position.identity = FileIdentity(device: 1, inode: inode)
        position.offset = size
        position.damaged = damaged
        return position
    }

    @Test(arguments: [
        (65_535, 0, false), (65_536, 0, true), (131_072, 65_536, false), (131_073, 65_536, true),
        (200_000, 99_999, true), (200_000, 100_000, false), (1_000_000, 499_999, true),
    ])
    func fileIsDueWhenDeadLinesOutweighLiveOnes(_ size: Int64, _ live: Int, _ isDue: Bool) {
        var schedule = CompactionSchedule()
        let position = position(size)
        let isChosen = schedule.mustLook(at: position) && schedule.isDue(position, live: live)
        same(isChosen, isDue)
    }

    @Test
    func damagedFileIsDueWhateverItsSize() {
        var schedule = CompactionSchedule()
        #expect(schedule.mustLook(at: position(10, damaged: 1)))
        let isDue = schedule.isDue(position(10, damaged: 1), live: 10)
        #expect(isDue)
    }

    @Test
    func liveLinesAreCountedAgainOnlyWhenTheFileCouldBeDue() {
        var schedule = CompactionSchedule()
        let isDue = schedule.isDue(position(1_000_000), live: 900_000)
        #expect(!isDue)
        #expect(!schedule.mustLook(at: position(1_800_000)))
        #expect(schedule.mustLook(at: position(1_800_001)))
    }

    @Test
    func failureIsTriedAgainWhenTheFileHasGrownOrIsAnother() {
        var schedule = CompactionSchedule()
        schedule.noteFailure(position(100, damaged: 1))
        #expect(!schedule.mustLook(at: position(65_635, damaged: 1)))
        #expect(schedule.mustLook(at: position(65_636, damaged: 1)))
        #expect(schedule.mustLook(at: position(100, damaged: 1, inode: 2)))
    }

    @Test
    func eachFurtherFailureWaitsForTwiceTheGrowthAndIsNotTheFirst() {
        var schedule = CompactionSchedule()
        for (count, growth) in [1, 2, 4, 8, 16, 16].enumerated() {
            schedule.noteFailure(position(100, damaged: 1))
            same(schedule.isFailingAgain, count > 0)
            #expect(!schedule.mustLook(at: position(Int64(growth) * 65_536 + 99, damaged: 1)))
            #expect(schedule.mustLook(at: position(Int64(growth) * 65_536 + 100, damaged: 1)))
        }
        schedule.noteSuccess(live: 0)
        #expect(!schedule.isFailingAgain)
    }

    /// One that isn't reported, as another process had the lock, doesn't hide the first one that lasts.
    @Test
    func failureThatIsNotReportedIsNotTheFirst() {
        var schedule = CompactionSchedule()
        for isReported in [false, true] {
            schedule.noteFailure(position(100, damaged: 1), isReported: isReported)
            #expect(!schedule.isFailingAgain)
        }
        schedule.noteFailure(position(100, damaged: 1), isReported: false)
        #expect(schedule.isFailingAgain)
    }

    @Test
    func fileOfDeadLinesIsDue() throws {
        let folder = try TemporaryFolder()
        let worker = StoppedWorker()
        let log = try LogFile.open(folder.path("log"), fileSystem: FaultyFileSystem(), worker: worker.queue)
        for value in 0..<1_000 { try log.set("name", String(repeating: "x", count: 60) + String(value)) }
        try log.compactIfDue()
        #expect(try SystemFileSystem().status(at: folder.path("log")).size < 100)
        try log.set("name", "y")
        try log.compactIfDue()
        #expect(try folder.read("log").hasSuffix("name=y.\n"))
        #expect(try folder.read("log").utf8.count > 8)
    }
}
