package object_test

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"github.com/omnigraph-go/omnigraph/internal/storage/fs"
	"github.com/omnigraph-go/omnigraph/internal/storage/object"
	"github.com/omnigraph-go/omnigraph/internal/storage/object/objecttest"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestMemory(t *testing.T) {
	var m object.Memory
	objecttest.Run(t, func(*testing.T) object.Bucket { return &m })
}

func TestFolder(t *testing.T) {
	for name, fsys := range map[string]fs.FS{"os": fs.OS(), "mem": fs.NewMem()} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			objecttest.Run(t, func(t *testing.T) object.Bucket {
				f, err := object.NewFolder(fsys, dir)
				if err != nil {
					t.Fatal(err)
				}
				return f
			})
		})
	}
}

// TestFolderPowerCut cuts the power before each disk operation in turn. After each cut every object
// that Create acknowledged or that Read returned must exist, and every object must be complete.
func TestFolderPowerCut(t *testing.T) {
	const dir = "/objects"
	for limit, done := 1, false; !done; limit++ {
		mem := fs.NewMem()
		mem.CrashAfter(limit)
		durable := map[string]string{}
		done = func() bool {
			f, err := object.NewFolder(mem, dir)
			for i := 0; i < 3 && err == nil; i++ {
				name, content := fmt.Sprintf("log/%d", i), fmt.Sprintf("content %d", i)
				if err = f.Create(t.Context(), name, []byte(content)); err == nil {
					durable[name] = content
				}
			}
			return err == nil
		}()
		for seed := range uint64(8) {
			after, err := object.NewFolder(mem.Crash(seed), dir)
			if err != nil {
				t.Fatal(err)
			}
			for name, content := range durable {
				if got, err := after.Read(t.Context(), name, 0, object.Whole); err != nil || string(got) != content {
					t.Errorf("cut before operation %d, seed %d: %s is %q, %v; want %q", limit, seed, name, got, err, content)
				}
			}
			entries, err := after.List(t.Context(), "", "", object.MaxList)
			if err != nil {
				t.Fatal(err)
			}
			for _, e := range entries {
				if e.Size != int64(len("content 0")) {
					t.Errorf("cut before operation %d, seed %d: %s has %d bytes", limit, seed, e.Name, e.Size)
				}
			}
		}
		if limit > 1000 {
			t.Fatal("the calls never finish")
		}
	}
}

// TestFolderNeedsLinks checks that NewFolder refuses a file system without hard links.
func TestFolderNeedsLinks(t *testing.T) {
	type plain struct{ fs.FS }
	if _, err := object.NewFolder(plain{fs.NewMem()}, "/x"); err == nil {
		t.Error("NewFolder accepts a file system without hard links")
	}
}

// TestFolderSyncFails makes every sync of a folder fail. Create must then return ErrUnknown, both
// when it made the object and when the object existed already.
func TestFolderSyncFails(t *testing.T) {
	fsys := &unsynced{Mem: fs.NewMem()}
	f, err := object.NewFolder(fsys, "/x")
	if err != nil {
		t.Fatal(err)
	}
	fsys.err = errors.New("input/output error")
	for range 2 {
		if err := f.Create(t.Context(), "a", nil); !errors.Is(err, object.ErrUnknown) || !errors.Is(err, fsys.err) {
			t.Errorf("Create returns %v; want ErrUnknown with the cause", err)
		}
	}
	fsys.err = nil
	if err := f.Create(t.Context(), "a", nil); !errors.Is(err, object.ErrExists) {
		t.Errorf("Create returns %v; want ErrExists", err)
	}
}

// unsynced is a file system whose SyncDir fails with err, unless err is nil.
type unsynced struct {
	*fs.Mem
	err error
}

func (u *unsynced) SyncDir(dir string) error {
	if u.err != nil {
		return u.err
	}
	return u.Mem.SyncDir(dir)
}

// The Create of lyingStore checks whether a name is free, waits, and then stores the object. A
// sequential test does not notice the fault.
type lyingStore struct{ object.Bucket }

func (s lyingStore) Create(ctx context.Context, name string, data []byte) error {
	if _, err := s.Read(ctx, name, 0, object.Whole); err == nil {
		return object.ErrExists
	} else if !errors.Is(err, object.ErrNotFound) {
		return err
	}
	time.Sleep(2 * time.Millisecond)
	return s.Put(ctx, name, data)
}

// The Create of replacingStore returns ErrExists for an existing object, but replaces it.
type replacingStore struct{ object.Bucket }

func (s replacingStore) Create(ctx context.Context, name string, data []byte) error {
	err := s.Bucket.Create(ctx, name, data)
	if errors.Is(err, object.ErrExists) {
		return errors.Join(err, s.Put(ctx, name, data))
	}
	return err
}

// TestProbeRefuses checks that the probe recognizes storage that is not safe.
func TestProbeRefuses(t *testing.T) {
	for name, wrap := range map[string]func(object.Bucket) object.Bucket{
		"checks, then stores": func(b object.Bucket) object.Bucket { return lyingStore{b} },
		"replaces":            func(b object.Bucket) object.Bucket { return replacingStore{b} },
		"separate storages":   func(object.Bucket) object.Bucket { return &object.Memory{} },
	} {
		t.Run(name, func(t *testing.T) {
			var m object.Memory
			err := object.Probe(t.Context(), func() (object.Bucket, error) { return wrap(&m), nil }, "")
			var unsafe *object.UnsafeError
			if !errors.As(err, &unsafe) {
				t.Errorf("the probe returns %v; want an UnsafeError", err)
			}
		})
	}
}

// TestLyingStoreSequential shows that a sequential test does not expose the lying store.
func TestLyingStoreSequential(t *testing.T) {
	s := lyingStore{&object.Memory{}}
	for i := range 64 {
		name := fmt.Sprintf("x/%d", i)
		if err := s.Create(t.Context(), name, []byte("first")); err != nil {
			t.Fatal(err)
		}
		for range 7 {
			if err := s.Create(t.Context(), name, []byte("second")); !errors.Is(err, object.ErrExists) {
				t.Fatalf("a second creation returns %v", err)
			}
		}
		if got, err := s.Read(t.Context(), name, 0, object.Whole); err != nil || string(got) != "first" {
			t.Fatalf("%q, %v", got, err)
		}
	}
}

// TestProbeCannotFinish checks that a probe does not report storage as unsafe only because its
// calls fail.
func TestProbeCannotFinish(t *testing.T) {
	var unsafe *object.UnsafeError
	err := object.Probe(t.Context(), func() (object.Bucket, error) { return nil, errDenied }, "")
	if !errors.Is(err, errDenied) || errors.As(err, &unsafe) {
		t.Errorf("when no connection can be made, the probe returns %v", err)
	}
	err = object.Probe(t.Context(), func() (object.Bucket, error) { return failing{}, nil }, "")
	if !errors.Is(err, errDenied) || errors.As(err, &unsafe) {
		t.Errorf("when every call fails, the probe returns %v", err)
	}
}

var errDenied = errors.New("access denied")

// failing is a Bucket whose calls all fail.
type failing struct{ object.Bucket }

func (failing) Create(context.Context, string, []byte) error { return errDenied }
func (failing) Delete(context.Context, string) error         { return errDenied }

// TestProbeLostReplies checks that a probe passes storage that loses the reply to each creation of an
// object.
func TestProbeLostReplies(t *testing.T) {
	var m object.Memory
	lost := &atomic.Int64{}
	err := object.Probe(t.Context(), func() (object.Bucket, error) { return losing{&m, lost}, nil }, "")
	if err != nil {
		t.Error(err)
	}
	if n := lost.Load(); n != 64 {
		t.Errorf("the storage lost %d replies, want one for each of 64 names", n)
	}
}

// losing makes objects, but loses the replies to their creators. A caller that is refused gets its
// answer.
type losing struct {
	object.Bucket
	lost *atomic.Int64 // number of lost replies
}

func (l losing) Create(ctx context.Context, name string, data []byte) error {
	err := l.Bucket.Create(ctx, name, data)
	if err != nil {
		return err
	}
	l.lost.Add(1)
	return object.ErrUnknown
}
