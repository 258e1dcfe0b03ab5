#if Configuration
import Testing

@Test func empty() {}
#endif
