import FaultTestSupport
import TestSupport
import Testing

@testable import DurableFile

struct QuietTimerTests {
    @Test
    func fileWithEndlessEventsCountsAsIdleAfterAWhile() {
        var timer = QuietTimer()
        for time in stride(from: 0, through: 95, by: 5) {
            timer.note(at: .milliseconds(time), isBlank: false, isWhole: false)
        }
        same(timer.due, .milliseconds(100))
        timer.note(at: .milliseconds(120), isBlank: false, isWhole: false)
        same(timer.due, .milliseconds(120))
        same(timer.isWhole(at: .milliseconds(120)), false)
    }

    @Test
    func fileIsIdleTenMillisecondsAfterItsLastEvent() {
        var timer = QuietTimer()
        timer.note(at: .milliseconds(1), isBlank: false, isWhole: true)
        timer.note(at: .milliseconds(5), isBlank: false, isWhole: false)
        same(timer.due, .milliseconds(15))
        #expect(timer.isWhole(at: .milliseconds(14)) == nil && timer.isWhole(at: .milliseconds(15)) == true)
    }

    @Test
    func emptyFileBecomesIdleLater() {
        var timer = QuietTimer()
        timer.note(at: .zero, isBlank: true, isWhole: false)
        same(timer.due, .milliseconds(100))
        timer.note(at: .milliseconds(2), isBlank: false, isWhole: false)
        same(timer.due, .milliseconds(12))
    }
}

struct ReportTimerTests {
    @Test
    func longReportIsLookedAtAgainIfNoThreadCouldTakeOver() {
        var timer = ReportTimer()
        _ = timer.begin(at: .zero)
        for time in [30, 60] {
            let step = timer.next(at: .milliseconds(time))
            same(step, .takeOver)
            let looksAgain = timer.lookAgain()
            #expect(looksAgain)
        }
        var looksTwice = timer.lookAgain()
        #expect(!looksTwice, "one look is scheduled")
        timer.end()
        let step = timer.next(at: .milliseconds(90))
        same(step, .end)
        looksTwice = timer.lookAgain()
        #expect(!looksTwice, "the thread watches again")
    }
}

struct TakeoverTests {
    private let fileSystem = FaultyFileSystem()
    private var state = WatcherState(startingAfter: .seconds(1))
    private var thread = 0

    init() throws {
        let started = state.add("/log", { _ in nil }, fileSystem).thread
        thread = try #require(started)
        let mustLook = state.beginReport(on: thread, at: .zero)
        #expect(mustLook)
    }

    /// The report might have ended, and the next one begun, while the other thread was started.
    @Test
    func noThreadWatchesInPlaceOfAShortReport() {
        var state = state
        var new = state.takeOver(at: .milliseconds(29))
        #expect(new == nil && state.thread == thread)
        state.endReport(on: thread)
        new = state.takeOver(at: .milliseconds(30))
        #expect(new == nil && state.thread == thread)
        _ = state.beginReport(on: thread, at: .milliseconds(30))
        new = state.takeOver(at: .milliseconds(31))
        #expect(new == nil && state.thread == thread)
    }
}

struct WakeLimitTests {
    /// Returns how often a watcher is woken in a second by events at an interval, of which some bring changes.
    private func wakes(each interval: Duration, hasChanges: (Int) -> Bool = { _ in false }) -> Int {
        var (limit, now, count) = (WakeLimit(), Duration.zero, 0)
        while now < .seconds(1) {
            count += 1
            now += max(limit.pause(hasChanges: hasChanges(count), at: now), interval)
        }
        return count
    }

    @Test
    func fileThatIsWrittenToAllTheTimeWakesLessThanAHundredTimesASecond() {
        for interval in [Duration.microseconds(1), .microseconds(100), .milliseconds(5), .milliseconds(11)] {
            #expect(wakes(each: interval) < 100, "each \(interval)")
        }
    }

    @Test
    func processesThatAnswerEachOtherNeverWait() {
        // Each set of this process wakes it for nothing, and each answer is a change.
        same(wakes(each: .milliseconds(1)) { $0.isMultiple(of: 2) }, 1_000)
        same(wakes(each: .milliseconds(1)) { _ in true }, 1_000)
    }

    @Test
    func eventThatIsTheOnlyOneForAWhileCostsNoWait() {
        var limit = WakeLimit()
        for time in stride(from: 0, to: 1_000, by: 25) {
            same(limit.pause(hasChanges: false, at: .milliseconds(time)), .zero)
        }
        same(limit.pause(hasChanges: false, at: .milliseconds(976)), .milliseconds(1))
        same(limit.pause(hasChanges: true, at: .milliseconds(977)), .zero)
        same(limit.pause(hasChanges: false, at: .milliseconds(978)), .milliseconds(1))
    }
}
