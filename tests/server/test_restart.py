"""Warm restarts: what a pool gives back after every kind of stop, and which pools are refused."""

import re
import signal
import threading
import unittest

from harness import ServerTest, wait_until

SUMMARY = re.compile(r"recovered (\d+) items \([\d.]+ MiB\) in [\d.]+ s with \d+ threads? (.*)")


class Restarts(ServerTest):
    def summary(self, server):
        """Items and circumstance that the log tells of recovery."""
        found = SUMMARY.search(server.log())
        self.assertTrue(found, server.log())
        return int(found[1]), found[2]

    def test_the_cache_comes_back_after_every_kind_of_stop(self):
        stops = ((signal.SIGTERM, "clean stop"), (signal.SIGINT, "clean stop"),
                 (signal.SIGUSR1, "clean stop"), (signal.SIGKILL, "crash"),
                 (signal.SIGKILL, "crash"), (signal.SIGTERM, "clean stop"))
        server = self.start_on_pool()
        self.assertIn("in a new pool", server.log())
        with server.connect() as client:
            client.store(b"first", b"value", flags=7)
            client.store(b"mortal", b"x", exptime=100000)
            client.store(b"doomed", b"x")
            self.assertEqual(client.command(b"delete doomed"), b"DELETED\r\n")
            cas = client.command(b"gets first", b"END\r\n")
        stored = 2
        for number, circumstance in stops:
            with self.subTest(signal=number.name):
                server.stop(number)
                server = self.start_on_pool()
                items, told = self.summary(server)
                self.assertEqual(items, stored)
                self.assertIn(circumstance, told)
                with server.connect() as client:
                    self.assertEqual(client.command(b"gets first", b"END\r\n"), cas)
                    self.assertEqual(client.fetch(b"mortal"), b"x")
                    self.assertIsNone(client.fetch(b"doomed"))
                    client.store(b"stop%d" % stored, b"large" * 20000)
                    stored += 1

    def test_a_flush_holds_over_a_crash(self):
        server = self.start_on_pool()
        with server.connect() as client:
            client.store(b"old", b"1")
            self.assertEqual(client.command(b"flush_all"), b"OK\r\n")
            client.store(b"new", b"2")
        server.stop(signal.SIGKILL)
        with self.start_on_pool().connect() as client:
            self.assertIsNone(client.fetch(b"old"))
            self.assertEqual(client.fetch(b"new"), b"2")

    def test_an_upload_that_was_cut_off_leaves_the_old_value(self):
        for number in (signal.SIGTERM, signal.SIGKILL):
            with self.subTest(signal=number.name):
                server = self.start_on_pool()
                with server.connect() as client, server.connect() as other:
                    client.store(b"key", b"old")
                    client.send(b"set key 0 0 300000\r\n" + b"n" * 200000)
                    wait_until(lambda: "conn_nread" in other.stats(b"conns").values(),
                               "part of the value has arrived")
                    server.stop(number)
                server = self.start_on_pool()
                with server.connect() as client:
                    self.assertEqual(client.fetch(b"key"), b"old")
                server.stop()

    def test_every_acknowledged_write_is_there_after_a_kill_in_the_middle(self):
        server = self.start_on_pool()
        acknowledged = [0] * 4

        def write(number):
            with server.connect() as client:
                try:
                    while True:
                        key = b"w%d-%d" % (number, acknowledged[number])
                        client.store(key, key * 50)
                        acknowledged[number] += 1
                except (AssertionError, OSError):
                    return

        writers = [threading.Thread(target=write, args=(number,)) for number in range(4)]
        for writer in writers:
            writer.start()
        wait_until(lambda: min(acknowledged) > 200, "every writer has written")
        server.stop(signal.SIGKILL)
        for writer in writers:
            writer.join()
        server = self.start_on_pool()
        self.assertIn("crash", self.summary(server)[1])
        with server.connect() as client:
            for number, count in enumerate(acknowledged):
                for i in range(count):
                    key = b"w%d-%d" % (number, i)
                    self.assertEqual(client.fetch(key), key * 50)


class Pools(ServerTest):
    def test_a_second_server_on_a_pool_is_refused(self):
        server = self.start_on_pool()
        code, log = self.fail_to_start("-e", str(self.pool))
        self.assertEqual(code, 75)
        self.assert_one_line(log, str(self.pool))
        with server.connect() as client:
            client.store(b"still", b"here")

    def test_a_larger_size_keeps_the_data_and_is_used(self):
        server = self.start_on_pool("-m", "64")
        with server.connect() as client:
            client.store(b"key", b"value")
        server.stop()
        server = self.start_on_pool("-m", "128", "-M")
        with server.connect() as client:
            self.assertEqual(client.fetch(b"key"), b"value")
            self.assertEqual(client.stats()["limit_maxbytes"], str(128 << 20))
            for i in range(90):
                client.store(b"filler%d" % i, b"f" * 1000000)
            self.assertEqual(client.fetch(b"key"), b"value")
        server.stop(signal.SIGKILL)
        with self.start_on_pool().connect() as client:
            self.assertEqual(client.stats()["limit_maxbytes"], str(128 << 20))
            self.assertEqual(client.fetch(b"filler89"), b"f" * 1000000)

    def test_a_smaller_size_is_refused_with_what_it_takes(self):
        self.start_on_pool("-m", "128").stop()
        code, log = self.fail_to_start("-e", str(self.pool), "-m", "64")
        self.assertEqual(code, 64)
        self.assert_one_line(log, str(self.pool), "128")
        self.start_on_pool().stop()

    def test_an_item_limit_beyond_half_of_the_pool_is_refused(self):
        self.start_on_pool("-m", "64").stop()
        code, log = self.fail_to_start("-e", str(self.pool), "-I", "64m")
        self.assertEqual(code, 64)
        self.assertIn("half of the pool", log)

    def test_files_that_are_no_pools_are_refused_and_left_alone(self):
        for content in (b"", b"x", b"\0" * (64 << 20), b"garbage!" * (8 << 20)):
            with self.subTest(size=len(content), start=content[:8]):
                self.pool.write_bytes(content)
                code, log = self.fail_to_start("-e", str(self.pool))
                self.assertEqual(code, 65, log)
                self.assert_one_line(log, str(self.pool))
                self.assertEqual(self.pool.read_bytes(), content)

    def test_a_pool_too_large_for_its_file_system_is_not_created(self):
        code, log = self.fail_to_start("-e", str(self.pool), "-m", "700000")
        self.assertEqual(code, 73, log)
        self.assert_one_line(log, str(self.pool))
        self.assertEqual([path.name for path in self.folder.iterdir() if "pool" in path.name], [])


if __name__ == "__main__":
    unittest.main()
