package postgres_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/omnigraph-go/omnigraph/internal/slow"
	"github.com/omnigraph-go/omnigraph/internal/storage/object"
	"github.com/omnigraph-go/omnigraph/internal/storage/object/objecttest"
	"github.com/omnigraph-go/omnigraph/internal/storage/object/postgres"
	"github.com/omnigraph-go/omnigraph/internal/storage/object/postgres/postgrestest"
)

// open opens a Bucket in a schema.
func open(t *testing.T, s *postgrestest.Server, schema string) *postgres.Bucket {
	t.Helper()
	b, err := postgres.Open(t.Context(), s.URL("schema="+schema))
	must(t, err)
	t.Cleanup(b.Close)
	return b
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func TestBucket(t *testing.T) {
	s := postgrestest.New(t)
	objecttest.Run(t, func(t *testing.T) object.Bucket { return open(t, s, "suite") })

	t.Run("parts", func(t *testing.T) {
		b := open(t, s, "parts")
		const part = 4 << 20
		data := make([]byte, 2*part+100)
		rng := rand.New(rand.NewPCG(1, 2))
		for i := range data {
			data[i] = byte(rng.Uint32())
		}
		must(t, b.Create(t.Context(), "created", data))
		must(t, b.Upload(t.Context(), "uploaded", bytes.NewReader(data), int64(len(data))))
		must(t, b.Put(t.Context(), "put", append(data, data...)))
		must(t, b.Put(t.Context(), "put", data))
		for _, name := range []string{"created", "uploaded", "put"} {
			for _, r := range [][2]int{{0, object.Whole}, {0, 10}, {part - 5, 10}, {part, 10}, {part, part}, {10, 2 * part}, {2*part - 1, 2}, {2*part + 50, 1000}, {3 * part, 10}, {10 << 32, 10}} {
				want := data[min(r[0], len(data)):]
				if r[1] != object.Whole {
					want = want[:min(r[1], len(want))]
				}
				got, err := b.Read(t.Context(), name, int64(r[0]), int64(r[1]))
				if err != nil || !bytes.Equal(got, want) {
					t.Errorf("%s, %d bytes at %d: %d bytes, %v; want %d", name, r[1], r[0], len(got), err, len(want))
				}
			}
		}
		if err := b.Create(t.Context(), "put", append(data, data...)); !errors.Is(err, object.ErrExists) {
			t.Errorf("a larger object is created under a taken name: %v", err)
		}
		must(t, b.Delete(t.Context(), "created"))
		must(t, b.Create(t.Context(), "created", data[:1]))
		if got, err := b.Read(t.Context(), "created", 0, object.Whole); err != nil || len(got) != 1 {
			t.Errorf("the object has %d bytes, %v; want 1", len(got), err)
		}
	})

	t.Run("first use", func(t *testing.T) {
		errs := make(chan error, 8)
		for range cap(errs) {
			go func() {
				b, err := postgres.Open(context.Background(), s.URL("schema=new"))
				if err == nil {
					b.Close()
				}
				errs <- err
			}()
		}
		for range cap(errs) {
			if err := <-errs; err != nil {
				t.Errorf("servers that make the table at the same time: %v", err)
			}
		}
	})
}

// TestRefused checks that Open refuses servers that could lose acknowledged objects.
func TestRefused(t *testing.T) {
	s := postgrestest.New(t)
	for _, tt := range []struct{ setting, want string }{
		{"synchronous_commit=off", "synchronous_commit is off"},
		{"fsync=off", "fsync is off"},
		{"", "in recovery"},
	} {
		s.Stop(t, os.Interrupt)
		var settings []string
		if tt.setting != "" {
			settings = []string{tt.setting}
		} else {
			must(t, os.WriteFile(filepath.Join(s.Data(), "standby.signal"), nil, 0o644))
		}
		s.Start(t, settings...)
		_, err := postgres.Open(t.Context(), s.URL(""))
		unsafe := (*postgres.UnsafeServerError)(nil)
		if !errors.As(err, &unsafe) || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("with %q: %v; want an UnsafeServerError that says %q", tt.setting, err, tt.want)
		}
	}
}

// TestCrash kills the server. Until the restart, calls must report that the storage is busy or that
// the outcome is unknown. After the recovery, every acknowledged object must exist.
func TestCrash(t *testing.T) {
	slow.Test(t)
	s := postgrestest.New(t)
	b := open(t, s, "crash")
	var acknowledged []string
	create := func(i int) error {
		name := fmt.Sprintf("log/%03d", i)
		err := b.Create(t.Context(), name, []byte(name))
		if err == nil {
			acknowledged = append(acknowledged, name)
		}
		return err
	}
	for i := range 50 {
		must(t, create(i))
	}
	s.Stop(t, syscall.SIGQUIT) // PostgreSQL's immediate shutdown, which needs a recovery
	if err := create(50); !errors.Is(err, object.ErrBusy) && !errors.Is(err, object.ErrUnknown) {
		t.Errorf("Create without a server returns %v", err)
	}
	if _, err := b.Read(t.Context(), "log/000", 0, object.Whole); !errors.Is(err, object.ErrBusy) && !errors.Is(err, object.ErrUnknown) {
		t.Errorf("Read without a server returns %v", err)
	}
	s.Start(t)
	must(t, create(51))
	for _, name := range acknowledged {
		if got, err := b.Read(t.Context(), name, 0, object.Whole); err != nil || string(got) != name {
			t.Errorf("after the crash, %s is %q, %v", name, got, err)
		}
	}
}

func TestAddress(t *testing.T) {
	for _, address := range []string{"", "mysql://x", "postgres://h/db?sslmode=wrong", "%"} {
		if _, err := postgres.Open(t.Context(), address); err == nil {
			t.Errorf("the address %q is accepted", address)
		}
	}
}
