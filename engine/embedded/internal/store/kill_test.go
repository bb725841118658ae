package store

import (
	"bufio"
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/omnigraph-go/omnigraph/internal/storage/fs"
)

// killDir is the environment variable that contains the directory of the store, for the process
// that the test will kill.
const killDir = "OMNIGRAPH_STORE_TEST_KILL_DIR"

// TestKill kills a process that appends, and checks that every record that the process reported as
// durable is there.
func TestKill(t *testing.T) {
	if dir := os.Getenv(killDir); dir != "" {
		appendForever(t, dir)
		return
	}
	self, err := os.Executable()
	must(t, err)
	dir := filepath.Join(t.TempDir(), "graph")
	must(t, create(t, fs.OS(), dir, tiny).Close())
	total := 0
	for round := range 5 {
		child := exec.Command(self, "-test.run=^TestKill$")
		child.Env = append(os.Environ(), killDir+"="+dir)
		out, err := child.StdoutPipe()
		must(t, err)
		must(t, child.Start())
		acknowledged, first := 0, true
		for lines := bufio.NewScanner(out); lines.Scan(); {
			lsn, err := strconv.Atoi(lines.Text())
			if err != nil {
				t.Errorf("the process says %q", lines.Text())
				break
			}
			acknowledged = max(acknowledged, lsn)
			if first {
				first = false
				_, _, err := Open(t.Context(), fs.OS(), dir, tiny)
				wantUnavailable(t, err, fmt.Sprint("process ", child.Process.Pid))
			}
			if acknowledged >= total+50+7*round {
				break
			}
		}
		must(t, child.Process.Kill())
		_ = child.Wait() // it was killed

		s, rec := reopen(t, fs.OS(), dir, tiny)
		for i, r := range rec.Records {
			if n := bytes.Count(r.Payload, []byte("record ")); r.LSN != uint64(i+1) || n == 0 || len(r.Payload)%n != 0 {
				t.Fatalf("record %d is number %d with %q", i+1, r.LSN, r.Payload)
			}
		}
		if total = len(rec.Records); total < acknowledged || acknowledged == 0 {
			t.Fatalf("%d records, %d were acknowledged", total, acknowledged)
		}
		must(t, s.Verify(t.Context()))
		must(t, s.Close())
	}
}

// appendForever appends records and prints the number of each one that is durable.
func appendForever(t *testing.T, dir string) {
	s, _ := reopen(t, fs.OS(), dir, tiny)
	for range 4 {
		go func() {
			for i := 0; ; i++ {
				lsn, err := s.Append(t.Context(), 1, payload(i%60))
				if err != nil {
					fmt.Println(err)
					os.Exit(1)
				}
				fmt.Println(lsn)
			}
		}()
	}
	select {}
}
