internal import CDurableFile

/// How many changes led to what a thread does just now, each set in answer to the one before.
///
/// It goes with the thread and not with what it delivers, so that answers which go to and fro between several places
/// count as well.
package enum AnswerDepth {
    /// How often observers may set in answer to a change that was set in answer to … before it is called a loop.
    package static var limit: Int { 1000 }

    /// The calling thread's; 0 where it answers nothing.
    package static var current: Int { Int(c_thread_answer_depth().pointee) }

    /// Runs `body` as the answer to a change of that depth.
    package static func answering(_ depth: Int, _ body: () -> Void) {
        let place = c_thread_answer_depth()
        let before = place.pointee
        place.pointee = Int64(depth) + 1
        body()
        place.pointee = before
    }
}
