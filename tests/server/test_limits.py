"""Limits: connections, pipelining, clients that do not read, memory of idle clients."""

import signal
import threading
import unittest

from harness import ServerTest, wait_until

REFUSAL = b"ERROR Too many open connections\r\n"


class Connections(ServerTest):
    def test_clients_above_the_limit_are_told_so(self):
        server = self.start("-c", "3")
        clients = [server.connect() for _ in range(3)]
        for client in clients:
            client.command(b"version")
        with server.connect() as surplus:
            self.assertEqual(surplus.read_until(b"\r\n"), REFUSAL)
            self.assertTrue(surplus.is_closed_by_server())
        stats = clients[0].stats()
        self.assertEqual(stats["curr_connections"], "3")
        self.assertEqual(stats["max_connections"], "3")
        self.assertEqual(stats["rejected_connections"], "1")

        clients.pop().socket.close()
        wait_until(lambda: clients[0].stats()["curr_connections"] == "2", "a client has gone")
        with server.connect() as next_client:
            self.assertTrue(next_client.command(b"version").startswith(b"VERSION"))
        for client in clients:
            client.socket.close()

    def test_without_maxconns_fast_clients_above_the_limit_wait(self):
        server = self.start("-c", "2", "-o", "no_maxconns_fast")
        first, second = server.connect(), server.connect()
        first.command(b"version")
        second.command(b"version")
        with server.connect() as waiting:
            waiting.send(b"version\r\n")
            wait_until(lambda: first.stats()["accepting_conns"] == "0", "accepting has stopped")
            stats = first.stats()
            self.assertEqual(stats["rejected_connections"], "0")
            self.assertGreaterEqual(int(stats["listen_disabled_num"]), 1)
            second.socket.close()
            self.assertTrue(waiting.read_until(b"\r\n").startswith(b"VERSION"))
        wait_until(lambda: first.stats()["accepting_conns"] == "1", "accepting goes on")
        self.assertGreater(int(first.stats()["time_in_listen_disabled_us"]), 0)
        first.socket.close()

    def test_stats_reset_zeroes_the_counters_of_connections(self):
        server = self.start()
        with server.connect() as client:
            client.command(b"version")
            client.command(b"stats reset")
            stats = client.stats()
        self.assertEqual(stats["total_connections"], "0")
        self.assertEqual(stats["curr_connections"], "1")
        self.assertLess(int(stats["bytes_read"]), 64)

    def test_clients_come_and_go_while_statistics_are_read(self):
        server = self.start()
        done = threading.Event()

        def come_and_go():
            while not done.is_set():
                with server.connect() as client:
                    client.command(b"get nothing", b"END\r\n")

        visitors = [threading.Thread(target=come_and_go) for _ in range(4)]
        for visitor in visitors:
            visitor.start()
        with server.connect() as client:
            while int(client.stats()["total_connections"]) < 500:
                client.stats(b"conns")
            done.set()
            for visitor in visitors:
                visitor.join()
            wait_until(lambda: client.stats()["curr_connections"] == "1", "all others have gone")
        self.assertEqual(server.stop(), 0)

    def test_a_thousand_idle_clients_hold_little_memory(self):
        server = self.start("-c", "2000")
        with server.connect() as client:
            client.command(b"version")
            before = server.resident_bytes()
            idle = [server.connect() for _ in range(1000)]
            for other in idle:
                other.command(b"get nothing", b"END\r\n")
            stats = client.stats()
            self.assertEqual(stats["curr_connections"], "1001")
            # Only the client that asks holds a buffer, for its own question.
            self.assertLessEqual(int(stats["read_buf_count"]), 1)
            self.assertLess(server.resident_bytes() - before, 32 << 20)
            for other in idle:
                other.socket.close()


class Requests(ServerTest):
    def test_ten_thousand_pipelined_requests_are_answered_in_order(self):
        server = self.start("-t", "1")
        with server.connect() as client:
            numbers = range(10000)
            client.send(b"".join(b"set key%d 0 0 %d\r\n%d\r\n" % (i, len(str(i)), i)
                                 for i in numbers))
            for _ in numbers:
                self.assertEqual(client.read_until(b"\r\n"), b"STORED\r\n")
            client.send(b"".join(b"get key%d\r\n" % i for i in numbers))
            for i in numbers:
                self.assertEqual(client.read_until(b"END\r\n"),
                                 b"VALUE key%d 0 %d\r\n%d\r\nEND\r\n" % (i, len(str(i)), i))

    def test_a_client_with_many_requests_leaves_room_for_others(self):
        server = self.start("-t", "1", "-R", "2")
        with server.connect() as busy, server.connect() as other:
            other.command(b"version")
            busy.send(b"get nothing\r\n" * 2000)
            self.assertTrue(other.command(b"version").startswith(b"VERSION"))
            for _ in range(2000):
                self.assertEqual(busy.read_until(b"END\r\n"), b"END\r\n")
            self.assertGreater(int(busy.stats()["conn_yields"]), 0)

    def test_a_client_that_reads_no_replies_takes_a_bounded_amount_of_memory(self):
        server = self.start("-t", "1", "-m", "128")
        value = b"v" * 500000
        small = b"s" * 1000
        with server.connect() as client:
            client.store(b"large", value)
            client.store(b"small", small)
        before = server.resident_bytes()
        for key in (b"large", b"small"):
            with self.subTest(key=key), server.connect() as lazy, server.connect() as other:
                # More requests than sockets and server may hold: sending must come to a halt.
                lazy.socket.setblocking(False)
                request = b"get %s\r\n" % key * 1000
                sent_since = 0
                while sent_since < 20 and lazy.socket.fileno() >= 0:
                    try:
                        lazy.socket.send(request)
                        sent_since = 0
                    except BlockingIOError:
                        # The server has answered another client since, so it is not just busy.
                        other.command(b"version")
                        sent_since += 1
                self.assertLess(server.resident_bytes() - before, 48 << 20)
                self.assertEqual(other.fetch(b"small"), small)

    def test_a_client_that_reads_slowly_gets_everything(self):
        server = self.start("-t", "1")
        value = bytes(range(256)) * 2000
        with server.connect() as client:
            client.store(b"large", value)
            client.send(b"get large\r\n" * 50)
            reply = b"VALUE large 0 %d\r\n%s\r\nEND\r\n" % (len(value), value)
            for _ in range(50):
                received = b""
                while len(received) < len(reply):
                    piece = client.socket.recv(min(30000, len(reply) - len(received)))
                    self.assertTrue(piece, "the server closed the connection")
                    received += piece
                self.assertEqual(received, reply)

    def test_a_line_that_does_not_end_is_refused(self):
        server = self.start()
        with server.connect() as client:
            try:
                for _ in range(64):
                    client.send(b"x" * 65536)
            except (BrokenPipeError, ConnectionResetError):
                pass
            wait_until(lambda: self.connection_count(server) == 1, "the client has been closed")

    def connection_count(self, server):
        with server.connect() as client:
            return int(client.stats()["curr_connections"])

    def test_a_graceful_stop_lets_slow_clients_read_their_replies(self):
        server = self.start("-t", "1")
        value = b"v" * 900000
        with server.connect() as client, server.connect() as other:
            client.store(b"large", value)
            client.send(b"get large\r\n" * 5)
            wait_until(lambda: "conn_mwrite" in other.stats(b"conns").values(),
                       "replies wait for their reader")
            server.process.send_signal(signal.SIGUSR1)
            self.assertTrue(other.is_closed_by_server())
            for _ in range(5):
                self.assertEqual(len(client.read_until(b"END\r\n")),
                                 len(b"VALUE large 0 900000\r\n") + len(value) + 7)
            self.assertTrue(client.is_closed_by_server())
        self.assertEqual(server.wait(), 0)


if __name__ == "__main__":
    unittest.main()
