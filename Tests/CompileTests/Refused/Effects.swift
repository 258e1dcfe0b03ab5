import Preferences

// The compiler reports these only in a file without other errors.

final class Counter { var count = 0 }

func declare(_ counter: Counter) {
    // The default is created at each use, on any thread.
    _ = Preference("count", default: counter.count)  // error: implicit capture of 'counter' requires that
}

func use(_ count: Preference<Int>) {
    count.write(1)  // error: call can throw, but it is not marked with 'try'
    count.update { $0 += 1 }  // error: call can throw, but it is not marked with 'try'
    _ = count.read()  // error: call can throw, but it is not marked with 'try'
    for await _ in count.updates {}  // error: 'async' in a function that does not support concurrency
    count.store.flush()  // error: call can throw, but it is not marked with 'try'
}
