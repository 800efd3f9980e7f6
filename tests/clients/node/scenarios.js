"use strict";
// Drives the npm package "memcached" through every scenario: node scenarios.js HOST PORT.
// Prints one line for each scenario; ends with 1 and a sentence at the first difference.

const assert = require("node:assert");
const { promisify } = require("node:util");
const { setTimeout: pause } = require("node:timers/promises");
const Memcached = require("memcached");

const LARGE_BYTES = 900 * 1024;
const EXPIRY_TIMEOUT_MS = 10000;
const POLL_MS = 100;

const [host, port] = process.argv.slice(2);
const client = new Memcached(`${host}:${port}`, { retries: 0, timeout: 10000 });

// The client's callbacks as promises, and its "not stored" errors as false.
const METHODS = ["get", "gets", "getMulti", "set", "add", "replace", "append", "prepend", "cas",
  "incr", "decr", "touch", "del", "flush", "stats", "version"];
const call = Object.fromEntries(METHODS.map((name) => [name, promisify(client[name]).bind(client)]));

async function isStored(store) {
  try {
    return await store;
  } catch (error) {
    if (error.notStored || /not stored/i.test(error.message)) return false;
    throw error;
  }
}

async function waitUntilGone(key) {
  const deadline = Date.now() + EXPIRY_TIMEOUT_MS;
  while ((await call.get(key)) !== undefined) {
    assert(Date.now() < deadline, `${key} outlived its TTL by ${EXPIRY_TIMEOUT_MS} ms`);
    await pause(POLL_MS);
  }
}

const scenarios = {
  async set_and_get() {
    for (const value of ["", "x", "two\r\nlines\r\n", "Grüße"]) {
      assert.strictEqual(await call.set("plain", value, 0), true);
      assert.strictEqual(await call.get("plain"), value);
    }
    assert.strictEqual(await call.get("missing"), undefined);
    const longest = "k".repeat(250);
    assert.strictEqual(await call.set(longest, "long", 0), true);
    assert.strictEqual(await call.get(longest), "long");
  },

  async add() {
    assert.strictEqual(await isStored(call.add("added", "first", 0)), true);
    assert.strictEqual(await isStored(call.add("added", "second", 0)), false);
    assert.strictEqual(await call.get("added"), "first");
  },

  async replace() {
    assert.strictEqual(await isStored(call.replace("replaced", "none", 0)), false);
    await call.set("replaced", "old", 0);
    assert.strictEqual(await isStored(call.replace("replaced", "new", 0)), true);
    assert.strictEqual(await call.get("replaced"), "new");
  },

  async append_and_prepend() {
    assert.strictEqual(await isStored(call.append("joined", "x")), false);
    assert.strictEqual(await isStored(call.prepend("joined", "x")), false);
    await call.set("joined", "middle", 0);
    assert.strictEqual(await isStored(call.append("joined", " end")), true);
    assert.strictEqual(await isStored(call.prepend("joined", "start ")), true);
    assert.strictEqual(await call.get("joined"), "start middle end");
  },

  async incr_and_decr() {
    assert.strictEqual(await call.incr("counter", 1), false);
    assert.strictEqual(await call.decr("counter", 1), false);
    await call.set("counter", "10", 0);
    assert.strictEqual(await call.incr("counter", 5), 15);
    assert.strictEqual(await call.decr("counter", 3), 12);
    assert.strictEqual(await call.decr("counter", 20), 0);
    await call.set("counter", "4294967295", 0);
    assert.strictEqual(await call.incr("counter", 1), 2 ** 32);
  },

  async gets_and_cas() {
    await call.set("checked", "old", 0);
    const { checked, cas } = await call.gets("checked");
    assert.strictEqual(checked, "old");
    assert.strictEqual(await call.cas("checked", "new", cas, 0), true);
    assert.strictEqual(await call.cas("checked", "late", cas, 0), false);
    assert.strictEqual(await call.get("checked"), "new");
    await call.del("checked");
    assert.strictEqual(await call.cas("checked", "none", cas, 0), false);
    assert.strictEqual(await call.get("checked"), undefined);
  },

  async touch() {
    assert.strictEqual(await call.touch("touched", 10), false);
    await call.set("touched", "x", 1);
    assert.strictEqual(await call.touch("touched", 1000), true);
    await call.set("witness", "x", 2);
    await waitUntilGone("witness");
    assert.strictEqual(await call.get("touched"), "x");
  },

  async delete() {
    await call.set("deleted", "x", 0);
    assert.strictEqual(await call.del("deleted"), true);
    assert.strictEqual(await call.get("deleted"), undefined);
    assert.strictEqual(await call.del("deleted"), false);
  },

  async multi_get() {
    const pairs = {};
    for (let index = 0; index < 100; index++) {
      pairs[`many:${index}`] = `value ${index}`.repeat(index + 1);
    }
    await Promise.all(Object.entries(pairs).map(([key, value]) => call.set(key, value, 0)));
    const asked = Object.keys(pairs).flatMap((key, index) => [key, `none:${index}`]);
    assert.deepEqual(await call.getMulti(asked), pairs);
  },

  async large_value() {
    const value = Array.from({ length: LARGE_BYTES }, (_, index) =>
      String.fromCharCode(33 + ((index * 7) % 89))).join("");
    assert.strictEqual(await call.set("large", value, 0), true);
    assert((await call.get("large")) === value, "900 KiB came back changed");
  },

  async expiry() {
    await call.set("short", "x", 1);
    await call.set("long", "x", 1000);
    await call.set("absolute", "x", Math.floor(Date.now() / 1000) + 1000);
    await waitUntilGone("short");
    assert.strictEqual(await call.get("long"), "x");
    assert.strictEqual(await call.get("absolute"), "x");
  },

  // The client keeps the type of a value in the flags.
  async flags() {
    for (const value of [42, { nested: ["JSON", 1] }, Buffer.from("bytes")]) {
      await call.set("typed", value, 0);
      assert.deepStrictEqual(await call.get("typed"), value);
    }
  },

  async flush_all() {
    await call.set("flushed", "x", 0);
    await call.flush();
    assert.strictEqual(await call.get("flushed"), undefined);
    assert.strictEqual(await call.set("flushed", "y", 0), true);
    assert.strictEqual(await call.get("flushed"), "y");
  },

  async stats() {
    const [found] = await call.stats();
    for (const name of ["pid", "uptime", "version", "curr_items", "cmd_get", "get_hits", "bytes"]) {
      assert(name in found, `stats has no ${name}`);
    }
    await call.get("flushed");
    const [later] = await call.stats();
    assert.strictEqual(later.cmd_get - found.cmd_get, 1);
  },

  async version() {
    const [{ version }] = await call.version();
    assert.match(version, /^\d+\.\d+\.\d+$/);
  },
};

async function main() {
  await call.flush();
  for (const [name, scenario] of Object.entries(scenarios)) {
    try {
      await scenario();
      console.log(`ok ${name}`);
    } catch (error) {
      console.log(`FAILED ${name}: ${error.message}`);
      process.exitCode = 1;
      break;
    }
  }
  console.log("n/a noreply: the client has no way to ask for it");
  client.end();
}

main();
