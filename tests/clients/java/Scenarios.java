import java.io.IOException;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.Future;
import java.util.logging.Level;
import java.util.logging.Logger;
import net.spy.memcached.CASResponse;
import net.spy.memcached.ConnectionFactoryBuilder;
import net.spy.memcached.MemcachedClient;

/**
 * Drives spymemcached with the text protocol through every scenario: Scenarios HOST PORT.
 * Prints one line for each scenario; ends with 1 and a sentence at the first difference.
 */
public final class Scenarios {
  private static final int LARGE_BYTES = 900 * 1024;
  private static final int OPERATION_TIMEOUT_MS = 10_000;
  private static final int EXPIRY_TIMEOUT_MS = 10_000;
  private static final int POLL_MS = 100;

  /** A scenario; what it throws is the difference it found. */
  private interface Scenario {
    void run() throws Exception;
  }

  private final MemcachedClient client;
  private final Map<String, Scenario> scenarios = new LinkedHashMap<>();

  private Scenarios(String host, int port) throws IOException {
    client =
        new MemcachedClient(
            new ConnectionFactoryBuilder()
                .setProtocol(ConnectionFactoryBuilder.Protocol.TEXT)
                .setOpTimeout(OPERATION_TIMEOUT_MS)
                .build(),
            List.of(new InetSocketAddress(host, port)));
    scenarios.put("set_and_get", this::setAndGet);
    scenarios.put("add", this::add);
    scenarios.put("replace", this::replace);
    scenarios.put("append_and_prepend", this::appendAndPrepend);
    scenarios.put("incr_and_decr", this::incrAndDecr);
    scenarios.put("gets_and_cas", this::getsAndCas);
    scenarios.put("touch", this::touch);
    scenarios.put("delete", this::delete);
    scenarios.put("multi_get", this::multiGet);
    scenarios.put("large_value", this::largeValue);
    scenarios.put("expiry", this::expiry);
    scenarios.put("flags", this::flags);
    scenarios.put("flush_all", this::flushAll);
    scenarios.put("stats", this::stats);
    scenarios.put("version", this::version);
  }

  public static void main(String[] arguments) throws Exception {
    System.setProperty("net.spy.log.LoggerImpl", "net.spy.memcached.compat.log.SunLogger");
    Logger.getLogger("net.spy.memcached").setLevel(Level.SEVERE);
    Scenarios all = new Scenarios(arguments[0], Integer.parseInt(arguments[1]));
    boolean passed = all.run();
    all.client.shutdown();
    System.exit(passed ? 0 : 1);
  }

  private boolean run() throws Exception {
    client.flush().get();
    for (Map.Entry<String, Scenario> entry : scenarios.entrySet()) {
      try {
        entry.getValue().run();
        System.out.println("ok " + entry.getKey());
      } catch (Exception difference) {
        System.out.println("FAILED " + entry.getKey() + ": " + difference.getMessage());
        return false;
      }
    }
    System.out.println("n/a noreply: the client has no way to ask for it");
    return true;
  }

  private void setAndGet() throws Exception {
    for (String value : List.of("", "x", "two\r\nlines\r\n", "Grüße")) {
      expect("set", client.set("plain", 0, value).get(), true);
      expect("get", client.get("plain"), value);
    }
    expect("get of a missing key", client.get("missing"), null);
    String longest = "k".repeat(250);
    expect("set of a key of 250 bytes", client.set(longest, 0, "long").get(), true);
    expect("get of a key of 250 bytes", client.get(longest), "long");
  }

  private void add() throws Exception {
    expect("add of a new key", client.add("added", 0, "first").get(), true);
    expect("add of an existing key", client.add("added", 0, "second").get(), false);
    expect("get after the refused add", client.get("added"), "first");
  }

  private void replace() throws Exception {
    expect("replace of a missing key", client.replace("replaced", 0, "none").get(), false);
    expect("get after the refused replace", client.get("replaced"), null);
    client.set("replaced", 0, "old").get();
    expect("replace of an existing key", client.replace("replaced", 0, "new").get(), true);
    expect("get after replace", client.get("replaced"), "new");
  }

  private void appendAndPrepend() throws Exception {
    expect("append to a missing key", client.append("joined", "x").get(), false);
    expect("prepend to a missing key", client.prepend("joined", "x").get(), false);
    client.set("joined", 0, "middle").get();
    expect("append", client.append("joined", " end").get(), true);
    expect("prepend", client.prepend("joined", "start ").get(), true);
    expect("get after both", client.get("joined"), "start middle end");
  }

  private void incrAndDecr() throws Exception {
    expect("incr of a missing key", client.incr("counter", 1), -1L);
    expect("decr of a missing key", client.decr("counter", 1), -1L);
    client.set("counter", 0, "10").get();
    expect("incr", client.incr("counter", 5), 15L);
    expect("decr", client.decr("counter", 3), 12L);
    expect("decr below 0", client.decr("counter", 20), 0L);
    client.set("counter", 0, "4294967295").get();
    expect("incr beyond 32 bits", client.incr("counter", 1), 1L << 32);
  }

  private void getsAndCas() throws Exception {
    client.set("checked", 0, "old").get();
    expect("gets", client.gets("checked").getValue(), "old");
    long token = client.gets("checked").getCas();
    expect("cas with the current number", client.cas("checked", token, "new"), CASResponse.OK);
    expect("cas with an outdated one", client.cas("checked", token, "late"), CASResponse.EXISTS);
    expect("get after both", client.get("checked"), "new");
    client.delete("checked").get();
    expect("cas of a missing key", client.cas("checked", token, "none"), CASResponse.NOT_FOUND);
    expect("get after the refused cas", client.get("checked"), null);
  }

  private void touch() throws Exception {
    expect("touch of a missing key", client.touch("touched", 10).get(), false);
    client.set("touched", 1, "x").get();
    expect("touch", client.touch("touched", 1000).get(), true);
    client.set("witness", 2, "x").get();
    waitUntilGone("witness");
    expect("get after the first time is over", client.get("touched"), "x");
  }

  private void delete() throws Exception {
    client.set("deleted", 0, "x").get();
    expect("delete", client.delete("deleted").get(), true);
    expect("get after delete", client.get("deleted"), null);
    expect("delete of a missing key", client.delete("deleted").get(), false);
  }

  private void multiGet() throws Exception {
    Map<String, Object> pairs = new HashMap<>();
    List<String> asked = new ArrayList<>();
    List<Future<Boolean>> stores = new ArrayList<>();
    for (int index = 0; index < 100; index++) {
      String key = "many:" + index;
      pairs.put(key, ("value " + index).repeat(index));
      stores.add(client.set(key, 0, pairs.get(key)));
      asked.add(key);
      asked.add("none:" + index);
    }
    for (Future<Boolean> store : stores) {
      expect("one of 100 sets at once", store.get(), true);
    }
    expect("multi-get of 200 keys, 100 of them missing", client.getBulk(asked), pairs);
  }

  private void largeValue() throws Exception {
    byte[] value = new byte[LARGE_BYTES];
    new Random(1).nextBytes(value);
    expect("set of 900 KiB", client.set("large", 0, value).get(), true);
    expect("get of 900 KiB", Arrays.equals((byte[]) client.get("large"), value), true);
  }

  private void expiry() throws Exception {
    client.set("short", 1, "x").get();
    client.set("long", 1000, "x").get();
    client.set("absolute", (int) (System.currentTimeMillis() / 1000) + 1000, "x").get();
    waitUntilGone("short");
    expect("get of an item with 1000 s", client.get("long"), "x");
    expect("get of an item with an absolute end", client.get("absolute"), "x");
  }

  /** The client keeps the type of a value in the flags. */
  private void flags() throws Exception {
    for (Object value : List.of(42, 1L << 40, true, 2.5, List.of("serialized", 1))) {
      client.set("typed", 0, value).get();
      expect("a typed value", client.get("typed"), value);
    }
  }

  private void flushAll() throws Exception {
    client.set("flushed", 0, "x").get();
    expect("flush_all", client.flush().get(), true);
    expect("get after flush_all", client.get("flushed"), null);
    expect("set in the same second", client.set("flushed", 0, "y").get(), true);
    expect("get in the same second", client.get("flushed"), "y");
  }

  private void stats() throws Exception {
    Map<String, String> found = oneServer(client.getStats());
    for (String name :
        List.of("pid", "uptime", "version", "curr_items", "cmd_get", "get_hits", "bytes")) {
      expect("stats has " + name, found.containsKey(name), true);
    }
    client.get("flushed");
    Map<String, String> later = oneServer(client.getStats());
    long growth = Long.parseLong(later.get("cmd_get")) - Long.parseLong(found.get("cmd_get"));
    expect("growth of cmd_get after one get", growth, 1L);
  }

  private void version() throws Exception {
    expect("version is empty", oneServer(client.getVersions()).isEmpty(), false);
  }

  private void waitUntilGone(String key) throws Exception {
    long deadline = System.nanoTime() + EXPIRY_TIMEOUT_MS * 1_000_000L;
    while (client.get(key) != null) {
      if (System.nanoTime() > deadline) {
        throw new Exception(key + " outlived its TTL by " + EXPIRY_TIMEOUT_MS + " ms");
      }
      Thread.sleep(POLL_MS);
    }
  }

  private static <Key, T> T oneServer(Map<Key, T> byServer) {
    return byServer.values().iterator().next();
  }

  private static void expect(String what, Object seen, Object expected) throws Exception {
    if (seen == null ? expected != null : !seen.equals(expected)) {
      throw new Exception(what + ": " + seen + " instead of " + expected);
    }
  }
}
