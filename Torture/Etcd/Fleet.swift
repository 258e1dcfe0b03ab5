#if Etcd && canImport(Glibc)
import EtcdTestSupport
enum Fleet {
    static func run(_ changes: Int) async throws -> Int32 { 0 }
}
#endif
