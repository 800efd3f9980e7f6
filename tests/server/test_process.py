"""The process: signals, pid file, daemon, users, the shutdown command."""

import os
import pwd
import signal
import subprocess
import unittest

from harness import BINARY, IS_ROOT, IS_SANITIZED, Client, ServerTest, as_daemon, wait_until


class Signals(ServerTest):
    def test_each_stop_signal_stops_cleanly(self):
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGUSR1):
            with self.subTest(signal=number.name):
                server = self.start_on_pool()
                with server.connect() as client:
                    client.command(b"version")
                    self.assertEqual(server.stop(number), 0)
                self.assertIn(f"stopping on {number.name}", server.log())
                self.assertIn("stopped cleanly", server.log())

    def test_hangups_and_broken_pipes_are_survived(self):
        server = self.start()
        server.process.send_signal(signal.SIGHUP)
        server.process.send_signal(signal.SIGPIPE)
        with server.connect() as client:
            self.assertTrue(client.command(b"version").startswith(b"VERSION"))
        self.assertEqual(server.stop(), 0)


class ShutdownCommand(ServerTest):
    def test_it_is_refused_unless_enabled(self):
        with self.start().connect() as client:
            self.assertEqual(client.command(b"shutdown"), b"ERROR: shutdown not enabled\r\n")

    def test_it_stops_cleanly_and_keeps_the_cache(self):
        for command in (b"shutdown", b"shutdown graceful"):
            with self.subTest(command=command):
                server = self.start_on_pool("-A")
                with server.connect() as client:
                    client.store(b"key", command)
                    client.send(command + b"\r\n")
                    self.assertTrue(client.is_closed_by_server())
                self.assertEqual(server.wait(), 0)
                again = self.start_on_pool()
                with again.connect() as client:
                    self.assertEqual(client.fetch(b"key"), command)
                again.stop()


class PidFile(ServerTest):
    def test_it_names_the_process_and_goes_with_it(self):
        path = self.folder / "pid"
        server = self.start("-P", str(path))
        self.assertEqual(int(path.read_text()), server.pid)
        server.stop()
        self.assertFalse(path.exists())

    def test_a_running_process_in_it_is_warned_about(self):
        path = self.folder / "pid"
        path.write_text(f"{os.getpid()}\n")
        server = self.start("-P", str(path))
        self.assertIn(f"named process {os.getpid()}, which is running", server.log())
        self.assertEqual(int(path.read_text()), server.pid)

    def test_one_that_cannot_be_written_is_no_reason_to_stop(self):
        server = self.start("-P", "/nonexistent/pid")
        self.assertIn("could not write the pid file /nonexistent/pid", server.log())
        self.assertEqual(server.stop(), 0)

    def test_that_of_another_server_stays(self):
        path = self.folder / "pid"
        first = self.start("-P", str(path))
        second = self.start("-P", str(path))
        first.stop()
        self.assertEqual(int(path.read_text()), second.pid)


class Daemon(ServerTest):
    def run_daemon(self, *options):
        """Runs a command that returns once the daemon serves, or has failed."""
        command = [BINARY, "-d", "-P", "pid", *options]
        if IS_ROOT:
            command += ["-u", "root"]
        log = self.folder / "daemon-log"
        environment = {**os.environ, "PMEM_IS_PMEM_FORCE": "1",
                       "MEMCACHED_PORT_FILENAME": str(self.folder / "ports")}
        # A file, because the daemon may keep it, which would keep a pipe open.
        with log.open("wb") as output:
            code = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=output, stderr=output,
                                  cwd=self.folder, env=environment, timeout=60,
                                  check=False).returncode
        return code, log.read_text()

    def test_it_serves_when_the_command_returns(self):
        pid_path = self.folder / "pid"
        with as_daemon(pid_path):
            code, log = self.run_daemon("-l", "127.0.0.1", "-p", "-1", "-e", "pool")
            self.assertEqual(code, 0, log)
            pid = int(pid_path.read_text())
            port = int((self.folder / "ports").read_text().split(": ")[1])
            with Client(("127.0.0.1", port)) as client:
                client.store(b"key", b"value")
            self.assertEqual(os.readlink(f"/proc/{pid}/cwd"), "/")
            self.assertEqual(os.readlink(f"/proc/{pid}/fd/0"), "/dev/null")
            self.assertEqual(os.readlink(f"/proc/{pid}/fd/2"), "/dev/null")
            self.assertNotEqual(os.getsid(pid), os.getsid(0))
            self.assertTrue(self.pool.exists(), "-e is relative to where the command ran")
            os.kill(pid, signal.SIGTERM)
            wait_until(lambda: not pid_path.exists(), "the daemon has stopped")
        server = self.start_on_pool()
        with server.connect() as client:
            self.assertEqual(client.fetch(b"key"), b"value")
        self.assertIn("after a clean stop", server.log())

    def test_its_failure_is_that_of_the_command(self):
        server = self.start()
        code, log = self.run_daemon("-l", "127.0.0.1", "-p", str(server.ports()[0]))
        self.assertEqual(code, 71)
        self.assert_one_line(log, "Address already in use")

    def test_with_core_dumps_it_stays_in_its_folder(self):
        pid_path = self.folder / "pid"
        with as_daemon(pid_path):
            code, log = self.run_daemon("-l", "127.0.0.1", "-p", "-1", "-r", "-v")
            self.assertEqual(code, 0, log)
            pid = int(pid_path.read_text())
            self.assertEqual(os.readlink(f"/proc/{pid}/cwd"), str(self.folder))
            self.assertNotEqual(os.readlink(f"/proc/{pid}/fd/2"), "/dev/null")


@unittest.skipUnless(IS_ROOT, "needs root")
class Users(ServerTest):
    def setUp(self):
        super().setUp()
        self.nobody = pwd.getpwnam("nobody")

    def test_the_server_and_its_files_belong_to_the_user(self):
        os.chown(self.folder, self.nobody.pw_uid, self.nobody.pw_gid)
        server = self.start_on_pool("-P", str(self.folder / "pid"), user="nobody")
        status = server.status()
        self.assertEqual(status["Uid"].split(), [str(self.nobody.pw_uid)] * 4)
        self.assertEqual(status["Gid"].split(), [str(self.nobody.pw_gid)] * 4)
        for name in ("pool", "pid"):
            self.assertEqual((self.folder / name).stat().st_uid, self.nobody.pw_uid, name)
        with server.connect() as client:
            client.store(b"key", b"value")
        server.stop()
        with self.start_on_pool(user="nobody").connect() as client:
            self.assertEqual(client.fetch(b"key"), b"value")

    def test_a_pool_that_the_user_may_not_open_is_refused(self):
        code, log = self.fail_to_start("-e", str(self.pool), user="nobody")
        self.assertNotEqual(code, 0)
        self.assert_one_line(log, str(self.pool), "Permission denied")
        self.assertFalse(self.pool.exists())

    @unittest.skipIf(IS_SANITIZED, "sanitizers switch mlockall off")
    def test_memory_can_be_locked(self):
        server = self.start("-k")
        if "memory cannot be locked" in server.log():
            self.skipTest("this machine does not let memory be locked")
        self.assertNotEqual(server.status()["VmLck"], "0 kB")


if __name__ == "__main__":
    unittest.main()
