#if Macros
import Testing

@Test func empty() {}
#endif
