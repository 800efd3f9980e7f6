// Drives github.com/bradfitz/gomemcache through every scenario: scenarios HOST:PORT.
// Prints one line for each scenario; ends with 1 and a sentence at the first difference.
package main

import (
	"bytes"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/bradfitz/gomemcache/memcache"
)

const (
	largeBytes    = 900 << 10
	expiryTimeout = 10 * time.Second
	pollInterval  = 100 * time.Millisecond
)

var client *memcache.Client

func main() {
	client = memcache.New(os.Args[1])
	client.Timeout = 10 * time.Second
	if err := client.FlushAll(); err != nil {
		fmt.Println("FAILED flush_all:", err)
		os.Exit(1)
	}
	for _, scenario := range scenarios {
		if err := scenario.run(); err != nil {
			fmt.Printf("FAILED %s: %v\n", scenario.name, err)
			os.Exit(1)
		}
		fmt.Println("ok", scenario.name)
	}
	for _, name := range []string{"noreply", "stats"} {
		fmt.Printf("n/a %s: the client has no such call\n", name)
	}
}

var scenarios = []struct {
	name string
	run  func() error
}{
	{"set_and_get", setAndGet},
	{"add", add},
	{"replace", replace},
	{"append_and_prepend", appendAndPrepend},
	{"incr_and_decr", incrAndDecr},
	{"gets_and_cas", getsAndCas},
	{"touch", touch},
	{"get_and_touch", getAndTouch},
	{"delete", remove},
	{"multi_get", multiGet},
	{"large_value", largeValue},
	{"expiry", expiry},
	{"flags", flags},
	{"flush_all", flushAll},
	{"version", func() error { return client.Ping() }},
}

func setAndGet() error {
	longest := strings.Repeat("k", 250)
	for _, value := range [][]byte{{}, []byte("x"), []byte("two\r\nlines\r\n"), {0, 255}} {
		if err := firstOf(
			set("plain", value), expectValue("plain", value), set(longest, value),
			expectValue(longest, value),
		); err != nil {
			return err
		}
	}
	return expectMiss("missing")
}

func add() error {
	return firstOf(
		expect("add of a new key", client.Add(item("added", "first")), nil),
		expect("add of an existing key", client.Add(item("added", "second")), memcache.ErrNotStored),
		expectValue("added", []byte("first")),
	)
}

func replace() error {
	return firstOf(
		expect("replace of a missing key", client.Replace(item("replaced", "none")),
			memcache.ErrNotStored),
		expectMiss("replaced"),
		set("replaced", []byte("old")),
		expect("replace of an existing key", client.Replace(item("replaced", "new")), nil),
		expectValue("replaced", []byte("new")),
	)
}

func appendAndPrepend() error {
	return firstOf(
		expect("append to a missing key", client.Append(item("joined", "x")), memcache.ErrNotStored),
		expect("prepend to a missing key", client.Prepend(item("joined", "x")),
			memcache.ErrNotStored),
		set("joined", []byte("middle")),
		expect("append", client.Append(item("joined", " end")), nil),
		expect("prepend", client.Prepend(item("joined", "start ")), nil),
		expectValue("joined", []byte("start middle end")),
	)
}

func incrAndDecr() error {
	_, incrMiss := client.Increment("counter", 1)
	_, decrMiss := client.Decrement("counter", 1)
	return firstOf(
		expect("incr of a missing key", incrMiss, memcache.ErrCacheMiss),
		expect("decr of a missing key", decrMiss, memcache.ErrCacheMiss),
		set("counter", []byte("10")),
		expectNumber(client.Increment, 5, 15),
		expectNumber(client.Decrement, 3, 12),
		expectNumber(client.Decrement, 20, 0),
		set("counter", []byte("4294967295")),
		expectNumber(client.Increment, 1, 1<<32),
	)
}

func getsAndCas() error {
	if err := set("checked", []byte("old")); err != nil {
		return err
	}
	current, err := client.Get("checked")
	if err != nil {
		return err
	}
	outdated := *current
	current.Value = []byte("new")
	outdated.Value = []byte("late")
	return firstOf(
		expect("cas with the current number", client.CompareAndSwap(current), nil),
		expect("cas with an outdated number", client.CompareAndSwap(&outdated),
			memcache.ErrCASConflict),
		expectValue("checked", []byte("new")),
		expect("delete", client.Delete("checked"), nil),
		expect("cas of a missing key", client.CompareAndSwap(&outdated), memcache.ErrCacheMiss),
		expectMiss("checked"),
	)
}

func touch() error {
	return firstOf(
		expect("touch of a missing key", client.Touch("touched", 10), memcache.ErrCacheMiss),
		setFor("touched", 1),
		expect("touch", client.Touch("touched", 1000), nil),
		setFor("witness", 2),
		waitUntilGone("witness"),
		expectValue("touched", []byte("x")),
	)
}

func getAndTouch() error {
	_, missErr := client.GetAndTouch("gotten", 10)
	if err := firstOf(
		expect("gat of a missing key", missErr, memcache.ErrCacheMiss),
		setFor("gotten", 1),
	); err != nil {
		return err
	}
	found, err := client.GetAndTouch("gotten", 1000)
	if err != nil {
		return err
	}
	if string(found.Value) != "x" {
		return fmt.Errorf("gat returned %q instead of \"x\"", found.Value)
	}
	return firstOf(
		setFor("witness", 2), waitUntilGone("witness"), expectValue("gotten", []byte("x")),
	)
}

func remove() error {
	return firstOf(
		set("deleted", []byte("x")),
		expect("delete", client.Delete("deleted"), nil),
		expectMiss("deleted"),
		expect("delete of a missing key", client.Delete("deleted"), memcache.ErrCacheMiss),
	)
}

func multiGet() error {
	var asked []string
	for index := 0; index < 100; index++ {
		key := fmt.Sprintf("many:%d", index)
		asked = append(asked, key, fmt.Sprintf("none:%d", index))
		if err := set(key, bytes.Repeat([]byte(key), index)); err != nil {
			return err
		}
	}
	found, err := client.GetMulti(asked)
	if err != nil {
		return err
	}
	if len(found) != 100 {
		return fmt.Errorf("multi-get of 200 keys found %d instead of 100", len(found))
	}
	for index := 0; index < 100; index++ {
		key := fmt.Sprintf("many:%d", index)
		if found[key] == nil || !bytes.Equal(found[key].Value, bytes.Repeat([]byte(key), index)) {
			return fmt.Errorf("multi-get returned another value for %s", key)
		}
	}
	return nil
}

func largeValue() error {
	value := make([]byte, largeBytes)
	for index := range value {
		value[index] = byte(index * 7 % 251)
	}
	return firstOf(set("large", value), expectValue("large", value))
}

func expiry() error {
	return firstOf(
		setFor("short", 1),
		setFor("long", 1000),
		setFor("absolute", int32(time.Now().Unix()+1000)),
		waitUntilGone("short"),
		expectValue("long", []byte("x")),
		expectValue("absolute", []byte("x")),
	)
}

func flags() error {
	for _, value := range []uint32{0, 1, 1 << 16, 1<<32 - 1} {
		err := client.Set(&memcache.Item{Key: "flagged", Value: []byte("x"), Flags: value})
		if err != nil {
			return err
		}
		found, err := client.Get("flagged")
		if err != nil {
			return err
		}
		if found.Flags != value {
			return fmt.Errorf("flags %d instead of %d", found.Flags, value)
		}
	}
	return nil
}

func flushAll() error {
	return firstOf(
		set("flushed", []byte("x")),
		expect("flush_all", client.FlushAll(), nil),
		expectMiss("flushed"),
		set("flushed", []byte("y")),
		expectValue("flushed", []byte("y")),
	)
}
