"""Addresses: TCP, IPv6, UNIX, several at a time, and those that are taken."""

import os
import socket
import stat
import unittest

from harness import Client, ServerTest, wait_until


def has_ipv6():
    try:
        with socket.socket(socket.AF_INET6) as probe:
            probe.bind(("::1", 0))
        return True
    except OSError:
        return False


def values_of(conns, kind):
    """What `stats conns` says of one kind, for all connections."""
    return [conns[name] for name in conns if name.endswith(":" + kind)]


class Tcp(ServerTest):
    def test_a_server_without_l_listens_on_all_addresses(self):
        server = self.start(listen=("-p", "-1"))
        with server.connect() as client:
            self.assertTrue(client.command(b"version").startswith(b"VERSION "))
        self.assertEqual(len(server.ports()), 2 if has_ipv6() else 1)

    @unittest.skipUnless(has_ipv6(), "needs IPv6")
    def test_ipv6(self):
        server = self.start(listen=("-l", "[::1]:0"))
        self.assertTrue(server.port_file.read_text().startswith("TCP INET6: "))
        with Client(("::1", server.ports()[0])) as client:
            conns = client.stats(b"conns")
        self.assertTrue(any(value.startswith("tcp6:[::1]:") for value in conns.values()))

    def test_several_listeners_share_one_cache(self):
        server = self.start(listen=("-l", "127.0.0.1:0,127.0.0.2:0", "-l", "127.0.0.3", "-p", "-1"))
        addresses = list(zip(("127.0.0.1", "127.0.0.2", "127.0.0.3"), server.ports()))
        self.assertEqual(len(addresses), 3)
        with Client(addresses[0]) as client:
            client.store(b"shared", b"value")
        for address in addresses:
            with Client(address) as client:
                self.assertEqual(client.fetch(b"shared"), b"value")

    def test_a_taken_port_is_refused_before_a_pool_is_created(self):
        server = self.start()
        port = server.ports()[0]
        code, log = self.fail_to_start("-e", str(self.pool),
                                       listen=("-l", "127.0.0.1", "-p", str(port)))
        self.assertEqual(code, 71)
        self.assert_one_line(log, "failed to listen on", f"TCP port {port}",
                             "Address already in use")
        self.assertFalse(self.pool.exists())

    def test_stats_conns_lists_listeners_and_clients(self):
        server = self.start()
        with server.connect() as client, server.connect() as other:
            other.command(b"version")
            port = server.ports()[0]
            # The other client's turn may be ending while it has its reply already.
            wait_until(lambda: sorted(values_of(client.stats(b"conns"), "state")) ==
                       ["conn_listening", "conn_parse_cmd", "conn_read"],
                       "one client waits and the other one asks")
            conns = client.stats(b"conns")
            by_kind = {kind: values_of(conns, kind)
                       for kind in ("addr", "listen_addr", "secs_since_last_cmd")}
            for end in (client, other):
                self.assertIn(f"tcp:127.0.0.1:{end.socket.getsockname()[1]}", by_kind["addr"])
            self.assertEqual(by_kind["listen_addr"], [f"tcp:127.0.0.1:{port}"] * 2)
            self.assertEqual(len(by_kind["secs_since_last_cmd"]), 3)


class Unix(ServerTest):
    def start_on(self, path, *options):
        return self.start("-s", str(path), *options, listen=())

    def test_a_unix_socket_replaces_tcp_and_goes_with_the_server(self):
        path = self.folder / "socket"
        server = self.start_on(path)
        self.assertEqual(server.ports(), [])
        self.assertEqual(stat.S_IMODE(path.stat().st_mode), 0o700)
        with Client(str(path)) as client:
            client.store(b"a", b"1")
            self.assertEqual(client.fetch(b"a"), b"1")
            self.assertIn(f"unix:{path}", client.stats(b"conns").values())
            self.assertEqual(client.stats(b"settings")["domain_socket"], str(path))
        self.assertEqual(server.stop(), 0)
        self.assertFalse(path.exists())

    def test_the_access_mask_applies(self):
        path = self.folder / "socket"
        self.start_on(path, "-a", "0666")
        self.assertEqual(stat.S_IMODE(path.stat().st_mode), 0o666)

    def test_a_left_over_socket_is_replaced_but_no_other_file(self):
        path = self.folder / "socket"
        left_over = socket.socket(socket.AF_UNIX)
        left_over.bind(str(path))
        left_over.close()
        with self.start_on(path) and Client(str(path)) as client:
            client.command(b"version")
        precious = self.folder / "precious"
        precious.write_text("data")
        code, log = self.fail_to_start("-s", str(precious), listen=())
        self.assertEqual(code, 71)
        self.assert_one_line(log, str(precious))
        self.assertEqual(precious.read_text(), "data")

    def test_paths_are_relative_to_where_the_server_was_started(self):
        self.start("-s", "socket", "-e", "pool", listen=())
        self.assertTrue(os.path.exists(self.folder / "socket"))
        self.assertTrue(self.pool.exists())


if __name__ == "__main__":
    unittest.main()
