import Foundation
import TestSupport
import Testing

@testable import PreferencesEtcd

/// Tests of the actions for each input, without a server, a thread or a clock.
struct WatchStateMachineTests {
    private static func machine(after revision: Int64? = 10) -> WatchStateMachine {
        var machine = WatchStateMachine(attemptTimeout: .seconds(2), probeInterval: .seconds(10))
        _ = machine.handle(.begin(after: revision))
        return machine
    }

    private static func watching(after revision: Int64 = 10) -> WatchStateMachine {
        var machine = machine(after: revision)
        _ = machine.handle(.response(WatchResponse(created: true)))
        return machine
    }

    private static func event(_ revision: Int64) -> WatchEvent {
        WatchEvent(kv: KeyValue(key: Data("k".utf8), value: Data("1".utf8), modRevision: GatewayInteger(revision)))
    }

    @Test
    func reopenedWatchIsProbedForItsHistory() {
        var machine = Self.watching()
        _ = machine.handle(.ended(.unreachable("lost")))
        _ = machine.handle(.silence(since: .zero))
        expect(&machine, .response(WatchResponse(created: true)), gives: [.probe(isCounting: false)])
        expect(&machine, .probed(.success(.otherHistory)), gives: [.close])
        expect(&machine, .silence(since: .zero), gives: [.reread])
        expect(&machine, .reread(.success(3)), gives: [.open(from: 4)])
    }

    @Test
    func watchOfALaterRevisionThanTheMembersIsProbed() {
        var machine = Self.machine()
        let created = WatchResponse(header: ResponseHeader(revision: 9), created: true)
        expect(&machine, .response(created), gives: [.probe(isCounting: false)])
    }

    @Test
    func watchThatContinuesTheCacheIsProbed() {
        var machine = WatchStateMachine(attemptTimeout: .seconds(2), probeInterval: .seconds(10))
        expect(&machine, .resume(after: 9), gives: [.open(from: 10)])
        expect(&machine, .response(WatchResponse(created: true)), gives: [.probe(isCounting: false)])
        expect(&machine, .probed(.success(.current)), gives: [.becameConnected])
        expect(&machine, .silence(since: .zero), gives: [.probe(isCounting: false)])
        expect(&machine, .probed(.success(.current)), gives: [])
    }

    /// The replay from a cache can be as long as the history; later ones begin where the watch was.
    @Test
    func suiteIsReadAfterMoreRevisionsThanAReplayHas() {
        func created(_ revision: Int64) -> WatchStateMachine.Input {
            .response(WatchResponse(header: ResponseHeader(revision: GatewayInteger(revision)), created: true))
        }
        let longest = WatchStateMachine.longestReplay
        var machine = WatchStateMachine(attemptTimeout: .seconds(2), probeInterval: .seconds(10))
        expect(&machine, .resume(after: 9), gives: [.open(from: 10)])
        // First the history is compared: another one may have got further than the cache's.
        expect(&machine, created(10 + longest), gives: [.probe(isCounting: false)])
        expect(
            &machine,
            .probed(.failure(lost)),
            gives: [.close, .becameDisconnected(lost), .leaveEndpoint]
        )
        expect(&machine, .silence(since: .zero), gives: [.open(from: 10)])
        expect(&machine, created(10 + longest), gives: [.probe(isCounting: false)])
        expect(&machine, .probed(.success(.behind)), gives: [.close, .reread])
        expect(&machine, .reread(.success(10 + longest)), gives: [.open(from: 11 + longest)])
        expect(&machine, created(10 + longest), gives: [.probe(isCounting: false)])
        expect(&machine, .probed(.success(.current)), gives: [.becameConnected])

        machine = WatchStateMachine(attemptTimeout: .seconds(2), probeInterval: .seconds(10))
        _ = machine.handle(.resume(after: 9))
        expect(&machine, created(9 + longest), gives: [.probe(isCounting: false)])
        _ = machine.handle(.probed(.success(.current)))
        _ = machine.handle(.ended(.unreachable("lost")))
        _ = machine.handle(.silence(since: .zero))
        expect(&machine, created(10 + 2 * longest), gives: [.probe(isCounting: false)])
        expect(&machine, .probed(.success(.current)), gives: [.becameConnected])
    }

    @Test
    func otherHistoryThatIsMuchLongerThanTheCachesIsNoticed() {
        let revision = GatewayInteger(10 + WatchStateMachine.longestReplay)
        var machine = WatchStateMachine(attemptTimeout: .seconds(2), probeInterval: .seconds(10))
        _ = machine.handle(.resume(after: 9))
        let created = WatchResponse(header: ResponseHeader(revision: revision), created: true)
        expect(&machine, .response(created), gives: [.probe(isCounting: false)])
        expect(&machine, .probed(.success(.otherHistory)), gives: [.close])
        expect(&machine, .silence(since: .zero), gives: [.reread])
    }

    @Test
    func endOfTheHistoryHasTheSuiteReadAgain() {
        var machine = Self.watching()
        expect(&machine, .historyEnded, gives: [.close])
        expect(&machine, .silence(since: .zero), gives: [.reread])
        expect(&machine, .historyEnded, gives: [])
        expect(&machine, .reread(.success(3)), gives: [.open(from: 4)])
    }

    private static func response(_ revisions: Int64...) -> WatchStateMachine.Input {
        .response(WatchResponse(events: revisions.map(event)))
    }

    private func expect(
        _ machine: inout WatchStateMachine,
        _ input: WatchStateMachine.Input,
        gives actions: [WatchStateMachine.Action],
        sourceLocation: SourceLocation = #_sourceLocation
    ) {
        let given = machine.handle(input)
        #expect(given == actions, sourceLocation: sourceLocation)
    }

    private let lost = GatewayFailure.unreachable("lost")

    @Test
    func watchStartsAfterTheRevisionThatWasRead() {
        var machine = WatchStateMachine(attemptTimeout: .seconds(2), probeInterval: .seconds(10))
        expect(&machine, .begin(after: 10), gives: [.open(from: 11)])
        same(machine.patience, .seconds(2))
        expect(&machine, .response(WatchResponse(created: true)), gives: [.becameConnected])
        same(machine.patience, .seconds(10))
    }

    @Test
    func writeThatIsQueuedWhileTheWatchIsOpenStartsAProbe() {
        var machine = Self.machine()
        expect(&machine, .waiting, gives: [])
        expect(&machine, .response(WatchResponse(created: true)), gives: [.becameConnected])
        expect(&machine, .waiting, gives: [.probe(isCounting: false)])
        expect(&machine, .waiting, gives: [])
        expect(&machine, .probed(.success(.current)), gives: [])
        same(machine.patience, .seconds(10))
    }

    @Test
    func serverThatAnswersEndsThePause() {
        var machine = Self.machine()
        _ = machine.handle(.ended(lost))
        expect(&machine, .waiting, gives: [.open(from: 11)])
        expect(&machine, .waiting, gives: [])
    }

    @Test
    func answersShortenThePauseToASecondButNotTheOneAfterAHistory() {
        var machine = Self.watching()
        same(machine.patienceWhenAwaited, .zero)
        _ = machine.handle(.ended(lost))
        same(machine.patienceWhenAwaited, .seconds(1))
        _ = machine.handle(.historyEnded)
        same(machine.patienceWhenAwaited, nil)
    }

    @Test
    func pauseGrowsAfterAllEndpointsWereTried() {
        var machine = WatchStateMachine(endpointCount: 3, attemptTimeout: .seconds(2), probeInterval: .seconds(10))
        _ = machine.handle(.begin(after: 10))
        let pauses = (0..<9).map { _ in
            _ = machine.handle(.ended(lost))
            defer { _ = machine.handle(.silence(since: .zero)) }
            return machine.patience
        }
        same(pauses, [50, 50, 50, 50, 50, 100, 50, 50, 200].map { .milliseconds($0) })
    }

    @Test
    func responsesOfAnEndedStreamAreIgnored() {
        var machine = Self.watching()
        expect(&machine, .ended(lost), gives: [.becameDisconnected(lost), .leaveEndpoint])
        expect(&machine, Self.response(11), gives: [])
        expect(&machine, .silence(since: .zero), gives: [.open(from: 11)])
    }

    @Test
    func suiteIsReadFirstIfThatFailedBefore() {
        var machine = WatchStateMachine(attemptTimeout: .seconds(2), probeInterval: .seconds(10))
        expect(&machine, .begin(after: nil), gives: [.reread])
        expect(&machine, .reread(.failure(lost)), gives: [.becameDisconnected(lost), .leaveEndpoint])
        expect(&machine, .silence(since: .zero), gives: [.reread])
        expect(&machine, .reread(.success(7)), gives: [.open(from: 8)])
    }

    @Test
    func lostWatchContinuesAfterTheLastEvent() {
        var machine = Self.watching()
        expect(&machine, Self.response(12, 15), gives: [.apply([Self.event(12), Self.event(15)])])
        expect(&machine, .ended(lost), gives: [.becameDisconnected(lost), .leaveEndpoint])
        expect(&machine, .silence(since: .zero), gives: [.open(from: 16)])
    }

    @Test
    func eventsAreDeliveredOnce() {
        var machine = Self.watching()
        _ = machine.handle(Self.response(12))
        expect(&machine, Self.response(11, 12, 13), gives: [.apply([Self.event(13)])])
        expect(&machine, Self.response(13), gives: [])
    }

    @Test
    func pausesGrowWhileNothingCanBeReached() {
        var machine = Self.machine()
        var pauses: [Duration?] = []
        for _ in 0..<13 {
            _ = machine.handle(.ended(lost))
            pauses.append(machine.patience)
            _ = machine.handle(.silence(since: .zero))
        }
        let doubled = (0..<10).map { 50 * (1 << $0) }
        same(pauses, (doubled + [30_000, 30_000, 30_000]).map { .milliseconds($0) })
        _ = machine.handle(.response(WatchResponse(created: true)))
        _ = machine.handle(.ended(lost))
        same(machine.patience, .milliseconds(50))
    }

    @Test
    func progressWithoutEventsMovesTheStart() {
        var machine = Self.watching()
        expect(&machine, .response(WatchResponse(header: ResponseHeader(revision: 40))), gives: [.advance(to: 40)])
        same(machine.nextRevision, 41)
    }

    @Test
    func compactedHistoryIsReplacedByReadingAll() {
        var machine = Self.machine()
        let compacted = WatchResponse(canceled: true, compactRevision: 90)
        expect(&machine, .response(compacted), gives: [.close, .reread])
        expect(&machine, .reread(.success(120)), gives: [.open(from: 121)])
    }

    @Test
    func silentWatchIsProbedAndContinuesIfNothingWasMissed() {
        var machine = Self.watching()
        expect(&machine, .silence(since: .zero), gives: [.probe(isCounting: false)])
        expect(&machine, .probed(.success(.current)), gives: [])
        same(machine.patience, .seconds(10))
    }

    @Test
    func silentWatchThatMissedChangesIsReopenedAndThenReplacedByReadingAll() {
        var machine = Self.watching()
        expect(&machine, .silence(since: .zero), gives: [.probe(isCounting: false)])
        expect(&machine, .probed(.success(.behind)), gives: [])
        same(machine.patience, .seconds(1))
        expect(&machine, .silence(since: .zero), gives: [.probe(isCounting: true)])
        let reopening = machine.handle(.probed(.success(.behind)))
        same(reopening.last, .open(from: 11))
        expect(&machine, .response(WatchResponse(created: true)), gives: [.probe(isCounting: false)])
        expect(&machine, .probed(.success(.behind)), gives: [.becameConnected])
        expect(&machine, .silence(since: .zero), gives: [.probe(isCounting: true)])
        let rereading = machine.handle(.probed(.success(.behind)))
        same(rereading.last, .reread)
    }

    @Test
    func lateEventEndsTheLag() {
        var machine = Self.watching()
        _ = machine.handle(.silence(since: .zero))
        _ = machine.handle(.probed(.success(.behind)))
        expect(&machine, Self.response(12), gives: [.apply([Self.event(12)])])
        same(machine.patience, .seconds(10))
    }

    @Test
    func memberThatDoesNotAnswerTheProbeIsLeft() {
        var machine = Self.watching()
        _ = machine.handle(.silence(since: .zero))
        expect(&machine, .probed(.failure(lost)), gives: [.close, .becameDisconnected(lost), .leaveEndpoint])
        expect(&machine, .silence(since: .zero), gives: [.open(from: 11)])
    }

    @Test
    func memberThatDoesNotOpenTheWatchInTimeIsLeft() {
        var machine = Self.machine()
        let leaving = machine.handle(.silence(since: .zero))
        same(leaving.first, .close)
        expect(&machine, .silence(since: .zero), gives: [.open(from: 11)])
    }

    @Test
    func forbiddenRangeIsAnError() {
        var machine = Self.machine()
        let reason = "rpc error: code = PermissionDenied desc = etcdserver: permission denied"
        let refusal = WatchResponse(created: true, canceled: true, cancelReason: reason)
        let failure = GatewayFailure.refused(code: 7, message: reason)
        expect(&machine, .response(refusal), gives: [.close, .becameDisconnected(failure), .leaveEndpoint])
    }

    @Test
    func refusedTokenIsRenewedAtTheSameMember() {
        var machine = Self.machine()
        let failure = GatewayFailure.tokenRefused("etcdserver: invalid auth token")
        expect(&machine, .ended(failure), gives: [.becameDisconnected(failure), .renewToken])
    }

    @Test
    func oneProbeOfThirtyCountsTheNames() {
        var machine = Self.watching()
        let counts = (1...60).map { _ in
            let actions = machine.handle(.silence(since: .zero))
            _ = machine.handle(.probed(.success(.current)))
            return actions == [.probe(isCounting: true)]
        }
        same(counts, (1...60).map { $0.isMultiple(of: 30) })
    }

    @Test
    func streamThatIsSilentForTooLongIsReplacedWithoutADisconnection() {
        var machine = Self.watching()
        expect(&machine, .silence(since: .seconds(900)), gives: [.probe(isCounting: false)])
        expect(&machine, .probed(.success(.current)), gives: [])
        expect(&machine, .silence(since: .seconds(901)), gives: [.close, .open(from: 11)])
        expect(&machine, .response(WatchResponse(created: true)), gives: [.probe(isCounting: false)])
    }

    // MARK: Replacement

    @Test
    func openWatchMovesWithoutADisconnectionOrMissedOrRepeatedEvents() {
        var machine = Self.watching()
        expect(&machine, Self.response(11), gives: [.apply([Self.event(11)])])
        expect(&machine, .move, gives: [.openReplacement(from: 12)])
        expect(&machine, .move, gives: [])
        #expect(!machine.mayMove)
        // The current watch continues until the replacement is open, which then delivers again from its first revision.
        expect(&machine, Self.response(12, 13), gives: [.apply([Self.event(12), Self.event(13)])])
        expect(&machine, .moved(true), gives: [.useReplacement, .becameConnected])
        expect(&machine, Self.response(12, 13, 14), gives: [.apply([Self.event(14)])])
        #expect(machine.mayMove)
    }

    @Test
    func watchStaysIfTheOtherMemberDoesNotAnswer() {
        var machine = Self.watching()
        expect(&machine, .move, gives: [.openReplacement(from: 11)])
        expect(&machine, .moved(false), gives: [.closeReplacement])
        expect(&machine, Self.response(11), gives: [.apply([Self.event(11)])])
        expect(&machine, .moved(true), gives: [])
    }

    @Test
    func watchThatEndsDuringAMoveIsReopenedAndClosesTheReplacement() {
        var machine = Self.watching()
        expect(&machine, .move, gives: [.openReplacement(from: 11)])
        expect(&machine, .ended(lost), gives: [.closeReplacement, .becameDisconnected(lost), .leaveEndpoint])
        expect(&machine, .moved(true), gives: [])
        expect(&machine, .silence(since: .zero), gives: [.open(from: 11)])
        expect(&machine, .move, gives: [])
    }

    @Test
    func onlyAnOpenWatchMoves() {
        var machine = Self.machine()
        #expect(!machine.mayMove)
        expect(&machine, .move, gives: [])
        _ = machine.handle(.response(WatchResponse(created: true)))
        #expect(machine.mayMove)
        _ = machine.handle(.ended(lost))
        #expect(!machine.mayMove)
    }

    @Test
    func moveEndsTheLag() {
        var machine = Self.watching()
        _ = machine.handle(.silence(since: .zero))
        _ = machine.handle(.probed(.success(.behind)))
        expect(&machine, .move, gives: [.openReplacement(from: 11)])
        expect(&machine, .moved(true), gives: [.useReplacement, .becameConnected])
        same(machine.patience, .seconds(10))
    }

    @Test
    func pausesAndProbesVaryRandomly() {
        for (random, probe, pause) in [(0.0, 9000, 25), (0.5, 10_000, 50), (1.0, 11_000, 75)] {
            var machine = WatchStateMachine(attemptTimeout: .seconds(2), probeInterval: .seconds(10)) { random }
            _ = machine.handle(.begin(after: 10))
            _ = machine.handle(.response(WatchResponse(created: true)))
            same(machine.patience, .milliseconds(probe))
            _ = machine.handle(.ended(lost))
            same(machine.patience, .milliseconds(pause))
        }
    }
}
