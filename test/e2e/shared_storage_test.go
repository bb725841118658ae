package e2e

import (
	"encoding/json"
	"flag"
	"fmt"
	"maps"
	"math/rand/v2"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/omnigraph-go/omnigraph/client"
	"github.com/omnigraph-go/omnigraph/internal/storage/object/postgres/postgrestest"
	"github.com/omnigraph-go/omnigraph/internal/storage/object/s3/s3test"
)

// The size of TestSharedStorage. `make test-shared` runs its long form.
var (
	sharedOn      = flag.String("shared.storage", "folder", "the storage of TestSharedStorage: folder, s3 or postgres")
	sharedWorkers = flag.Int("shared.clients", 6, "how many clients TestSharedStorage has")
	sharedKills   = flag.Int("shared.kills", 2, "how often TestSharedStorage kills the writer")
	sharedStops   = flag.Int("shared.stops", 1, "how often TestSharedStorage stops the writer for longer than its lease")
	sharedOutages = flag.Int("shared.outages", 1, "how often TestSharedStorage kills the storage, unless it is a folder")
	sharedLease   = flag.Duration("shared.lease", 2*time.Second, "the setting storage.lease in the tests of shared storage")
	sharedPause   = flag.Float64("shared.pause", 3, "the longest time without a write after a failure, in leases")
)

// storage is an empty storage that servers share.
type storage struct {
	url           string
	kill, restart func() // kill ends its server at once; nil for a folder
}

// newStorage makes an empty storage.
func newStorage(t *testing.T, kind string) storage {
	t.Helper()
	switch kind {
	case "s3":
		t.Setenv("AWS_ACCESS_KEY_ID", "key")
		t.Setenv("AWS_SECRET_ACCESS_KEY", "secret")
		g := s3test.New(t)
		return storage{"s3://graphs/prod?endpoint=" + url.QueryEscape(g.URL()), g.Kill, func() { g.Start(t) }}
	case "postgres":
		// SIGQUIT makes PostgreSQL end all its processes without a checkpoint, as pg_ctl stop -m immediate
		// does. It then recovers from its log.
		s := postgrestest.New(t)
		return storage{s.URL(""), func() { s.Stop(t, syscall.SIGQUIT) }, func() { s.Start(t) }}
	}
	return storage{url: "file://" + filepath.Join(t.TempDir(), "bucket")}
}

// storageURL makes an empty storage and returns its URL.
func storageURL(t *testing.T, kind string) string {
	t.Helper()
	return newStorage(t, kind).url
}

// TestSharedStorage runs three servers on one storage while clients write and read, and kills the writer,
// stops it for longer than its lease, and kills the storage. No acknowledged write may be lost, and no write
// may be made twice. If a client states a commit that it saw, the answer must never have older data.
func TestSharedStorage(t *testing.T) {
	s := newStorage(t, *sharedOn)
	f := newFleet(t, 3, s.url)
	for i := range f.ports {
		f.start(i)
	}
	f.writer()
	patience := f.limit
	// A client that waits for a server that was stopped does not notice when another one takes over.
	f.limit = max(*sharedLease/5, time.Second)
	crowd := startCrowd(f, *sharedWorkers)
	stopped := false
	defer func() {
		if stopped {
			return
		}
		crowd.stop() // before the servers end, and before the test does
		for i := range f.ports {
			if p := f.end(i); p != nil {
				p.kill()
				log := p.stderr.String()
				t.Logf("the end of the log of server %d:\n%s", i, log[max(0, len(log)-4000):])
			}
		}
	}()
	pauses := map[string][]time.Duration{}
	for _, failure := range f.failures(s) {
		time.Sleep(time.Duration(rand.IntN(500)) * time.Millisecond)
		pauses[failure.name] = append(pauses[failure.name], failure.run(crowd))
		if t.Failed() {
			return
		}
	}
	crowd.stop()
	stopped, f.limit = true, patience
	for _, name := range slices.Sorted(maps.Keys(pauses)) {
		t.Logf("time from %s to the next acknowledged write, with a lease of %v: %v", name, *sharedLease, pauses[name])
		if longest := slices.Max(pauses[name]); longest > time.Duration(*sharedPause*float64(*sharedLease)) {
			t.Errorf("the longest time from %s to a write was %v, and the limit is %v leases of %v", name, longest, *sharedPause, *sharedLease)
		}
	}
	t.Logf("load of the machine: %s", loadAverage())
	crowd.checkHistory()
	for i := range f.ports {
		p := f.end(i)
		p.stop()
		if log := p.stderr.String(); strings.Contains(log, "panic") || strings.Contains(log, "corrupt") {
			t.Errorf("server %d wrote:\n%s", i, log)
		}
	}
	crowd.checkContent(s.url)
}

// failure is something that happens to a fleet. Its function `run` returns how long no write was
// acknowledged.
type failure struct {
	name string
	run  func(*crowd) time.Duration
}

// failures returns what TestSharedStorage does to a fleet and its storage, in random order.
func (f *fleet) failures(s storage) []failure {
	all := slices.Repeat([]failure{{"a kill of the writer", f.killWriter}}, *sharedKills)
	all = append(all, slices.Repeat([]failure{{"a stop of the writer", f.stopWriter}}, *sharedStops)...)
	if s.kill != nil {
		all = append(all, slices.Repeat([]failure{{"a restart of the killed storage", func(c *crowd) time.Duration {
			s.kill()
			// Some outages are longer than the lease.
			time.Sleep(time.Duration(rand.Float64() * 1.5 * float64(*sharedLease)))
			s.restart()
			return f.next(c.firstWrite())
		}}}, *sharedOutages)...)
	}
	rand.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
	return all
}

// next waits for a time that a crowd measures.
func (f *fleet) next(first <-chan time.Duration) time.Duration {
	f.t.Helper()
	select {
	case d := <-first:
		return d.Round(10 * time.Millisecond)
	case <-time.After(patient):
		f.t.Errorf("no write was acknowledged for %v", patient)
		return patient
	}
}

// killWriter kills the writer and starts it again after another server has written.
func (f *fleet) killWriter(c *crowd) time.Duration {
	w := f.writer()
	p := f.end(w)
	// First the signal: a write that is sent before it may be acknowledged.
	if err := p.cmd.Process.Signal(syscall.SIGKILL); err != nil {
		f.t.Error(err)
	}
	first := c.firstWrite()
	p.kill() // waits for the end of the process
	pause := f.next(first)
	f.start(w)
	return pause
}

// stopWriter stops the process of the writer for longer than its lease.
func (f *fleet) stopWriter(c *crowd) time.Duration {
	w := f.writer()
	f.mu.Lock()
	p := f.running[w]
	f.mu.Unlock()
	if err := p.cmd.Process.Signal(syscall.SIGSTOP); err != nil {
		f.t.Error(err)
	}
	first := c.firstWrite()
	time.Sleep(*sharedLease * 3 / 2)
	if err := p.cmd.Process.Signal(syscall.SIGCONT); err != nil {
		f.t.Error(err)
	}
	return f.next(first)
}

// loadAverage returns how busy the machine is, for the log of a test.
func loadAverage() string {
	text, err := os.ReadFile("/proc/loadavg")
	if err != nil {
		return "not known"
	}
	return strings.TrimSpace(string(text))
}

// checkHistory compares the commits of main and the branches with what the servers acknowledged. The workers
// have stopped, so that every outcome is known.
func (c *crowd) checkHistory() {
	t := c.f.t
	t.Helper()
	c.mu.Lock()
	defer c.mu.Unlock()
	t.Logf("acknowledged writes: %v", c.counts)
	if len(c.onMain) == 0 {
		t.Error("no write was acknowledged")
	}
	for i := range c.f.ports {
		c.f.version(i) // waits until the server knows the latest commit
		api, err := client.New(fmt.Sprintf("http://127.0.0.1:%d", c.f.ports[i]), client.WithToken(sharedToken))
		if err != nil {
			t.Fatal(err)
		}
		number := map[string]uint64{}
		for commit, err := range api.Graph("code").AllCommits(t.Context(), client.CommitQuery{}) {
			if err != nil {
				t.Fatal(err)
			}
			if _, twice := number[commit.GraphCommitID]; twice {
				t.Errorf("server %d lists commit %s twice", i, commit.GraphCommitID)
			}
			number[commit.GraphCommitID] = commit.GraphManifestVersion
			if _, known := c.commits[commit.GraphCommitID]; !known && commit.ActorID != nil && *commit.ActorID == "act-dev" {
				t.Errorf("server %d has commit %s, which was not acknowledged", i, commit.GraphCommitID)
			}
		}
		for id := range c.onMain {
			if number[id] == 0 {
				t.Errorf("server %d lost commit %s, which was acknowledged for %s", i, id, c.commits[id])
			}
		}
		branches := map[string]bool{}
		for branch, err := range api.Graph("code").AllBranches(t.Context()) {
			if err != nil {
				t.Fatal(err)
			}
			branches[branch.Name] = true
		}
		delete(branches, "main")
		kept := map[string]bool{}
		for _, w := range c.workers {
			maps.Copy(kept, w.kept)
			maps.DeleteFunc(branches, func(name string, _ bool) bool { return w.unsure[name] && !w.kept[name] })
		}
		if !maps.Equal(branches, kept) {
			t.Errorf("server %d has the branches %v, and %v were made and not deleted", i, slices.Sorted(maps.Keys(branches)), slices.Sorted(maps.Keys(kept)))
		}
		for slug, writes := range c.common {
			newest := slices.MaxFunc(writes, func(a, b commonWrite) int { return int(number[a.commit]) - int(number[b.commit]) })
			c.workers[0].notes[slug] = newest.text
		}
	}
}

// checkContent verifies the graph in the storage, without a server, and compares its notes with the ones that
// the servers acknowledged. REQUIRES: checkHistory has run.
func (c *crowd) checkContent(at string) {
	t := c.f.t
	t.Helper()
	omnigraph(t, "verify", "--store", at, "--graph", "code")
	out, err := exec.Command(filepath.Join(bin, "omnigraph"), "export", "--store", at, "--graph", "code").Output()
	if err != nil {
		t.Fatal(err)
	}
	found := map[string]string{}
	for line := range strings.Lines(string(out)) {
		var l struct {
			Type string
			Data struct{ Slug, Text string }
		}
		if err := json.Unmarshal([]byte(line), &l); err != nil {
			t.Fatalf("%v: %s", err, line)
		}
		if l.Type == "Note" {
			if _, twice := found[l.Data.Slug]; twice {
				t.Errorf("the export has note %s twice", l.Data.Slug)
			}
			found[l.Data.Slug] = l.Data.Text
		}
	}
	want := c.texts()
	for _, slug := range slices.Sorted(maps.Keys(want)) {
		if text, exists := found[slug]; !exists || text != want[slug] {
			t.Errorf("note %s is %q (exists: %v); the last acknowledged text is %q", slug, text, exists, want[slug])
		}
		delete(found, slug)
	}
	for slug, text := range found {
		t.Errorf("note %s with the text %q exists; it was not acknowledged, or it was deleted", slug, text)
	}
	t.Logf("%d notes and %d commits are as acknowledged", len(want), len(c.commits))
}
