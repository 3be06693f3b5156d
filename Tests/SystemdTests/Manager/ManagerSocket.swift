import Foundation
import Glibc

/// The manager's end of a notification socket: a real datagram socket in the abstract name space.
final class ManagerSocket {
    struct Datagram {
        let text: String
        let descriptors: [Int32]
        /// From the kernel, as the manager gets it.
        let sender: pid_t?
    }

    let address: String
    private let descriptor: Int32

    init() throws {
        address = "@cistern-test-\(UUID().uuidString)"
        descriptor = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        var name = sockaddr_un()
        name.sun_family = sa_family_t(AF_UNIX)
        var bytes = Array(address.utf8)
        bytes[0] = 0
        withUnsafeMutableBytes(of: &name.sun_path) { $0.copyBytes(from: bytes) }
        let length = socklen_t(MemoryLayout<sockaddr_un>.offset(of: \.sun_path)! + bytes.count)
        let bound = withUnsafePointer(to: &name) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { bind(descriptor, $0, length) }
        }
        var on: Int32 = 1
        setsockopt(descriptor, SOL_SOCKET, SO_PASSCRED, &on, socklen_t(MemoryLayout<Int32>.size))
        guard bound == 0 else { throw POSIXError(POSIXErrorCode(rawValue: errno) ?? .EIO) }
    }

    deinit { close(descriptor) }

    /// The next datagram; waits for it.
    func receive() throws -> Datagram {
        var text = [UInt8](repeating: 0, count: 65_536)
        let control = UnsafeMutableRawBufferPointer.allocate(byteCount: 512, alignment: MemoryLayout<cmsghdr>.alignment)
        defer { control.deallocate() }
        var header = msghdr()
        header.msg_control = control.baseAddress
        header.msg_controllen = control.count
        let count = text.withUnsafeMutableBytes { bytes in
            var vector = iovec(iov_base: bytes.baseAddress, iov_len: bytes.count)
            return withUnsafeMutablePointer(to: &vector) { vector in
                header.msg_iov = vector
                header.msg_iovlen = 1
                return recvmsg(descriptor, &header, 0)
            }
        }
        guard count >= 0 else { throw POSIXError(POSIXErrorCode(rawValue: errno) ?? .EIO) }
        var descriptors: [Int32] = []
        var sender: pid_t?
        // SCM_CREDENTIALS, which Glibc keeps for those who define _GNU_SOURCE.
        let credentials: Int32 = 2
        var at = 0
        let size = MemoryLayout<cmsghdr>.size
        while at + size <= header.msg_controllen {
            let item = control.load(fromByteOffset: at, as: cmsghdr.self)
            if item.cmsg_type == Int32(SCM_RIGHTS) {
                let places = stride(from: at + size, to: at + item.cmsg_len, by: 4)
                descriptors += places.map { control.load(fromByteOffset: $0, as: Int32.self) }
            } else if item.cmsg_type == credentials {
                sender = control.load(fromByteOffset: at + size, as: pid_t.self)
            }
            at += (item.cmsg_len + 7) / 8 * 8
        }
        return Datagram(text: String(decoding: text[..<count], as: UTF8.self), descriptors: descriptors, sender: sender)
    }
}
