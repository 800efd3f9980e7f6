package main

import (
	"bytes"
	"errors"
	"fmt"
	"time"

	"github.com/bradfitz/gomemcache/memcache"
)

// firstOf is given the results of steps that ran one after the other.
func firstOf(results ...error) error {
	for _, err := range results {
		if err != nil {
			return err
		}
	}
	return nil
}

func expect(what string, seen, expected error) error {
	if !errors.Is(seen, expected) {
		return fmt.Errorf("%s: %v instead of %v", what, seen, expected)
	}
	return nil
}

func expectValue(key string, expected []byte) error {
	found, err := client.Get(key)
	if err != nil {
		return fmt.Errorf("get %.50s: %w", key, err)
	}
	if !bytes.Equal(found.Value, expected) {
		return fmt.Errorf("get %.50s: %.100q instead of %.100q", key, found.Value, expected)
	}
	return nil
}

func expectMiss(key string) error {
	_, err := client.Get(key)
	return expect("get of a missing key", err, memcache.ErrCacheMiss)
}

func expectNumber(change func(string, uint64) (uint64, error), delta, expected uint64) error {
	found, err := change("counter", delta)
	if err != nil {
		return err
	}
	if found != expected {
		return fmt.Errorf("incr or decr by %d: %d instead of %d", delta, found, expected)
	}
	return nil
}

func waitUntilGone(key string) error {
	for deadline := time.Now().Add(expiryTimeout); time.Now().Before(deadline); {
		if _, err := client.Get(key); errors.Is(err, memcache.ErrCacheMiss) {
			return nil
		}
		time.Sleep(pollInterval)
	}
	return fmt.Errorf("%s outlived its TTL by %v", key, expiryTimeout)
}

func item(key, value string) *memcache.Item {
	return &memcache.Item{Key: key, Value: []byte(value)}
}

func set(key string, value []byte) error {
	return client.Set(&memcache.Item{Key: key, Value: value})
}

func setFor(key string, seconds int32) error {
	return client.Set(&memcache.Item{Key: key, Value: []byte("x"), Expiration: seconds})
}
