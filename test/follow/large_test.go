package follow

import (
	"flag"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/omnigraph-go/omnigraph/internal/clock"
	"github.com/omnigraph-go/omnigraph/internal/slow"
)

var large = flag.Int("follow.large", 20_000, "rows of the large transaction of TestLarge")

// TestLarge follows a large transaction, and reports rates and memory.
func TestLarge(t *testing.T) {
	slow.Test(t)
	w := newWorld(t, tables)
	w.caughtUp()
	measure := func(what string, rows int) {
		t.Helper()
		cmd := exec.CommandContext(t.Context(), bin, w.args("--once")...)
		start := clock.Now()
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("%s: %v\n%s", what, err, out)
		}
		wall := clock.Since(start).Seconds()
		usage, ok := cmd.ProcessState.SysUsage().(*syscall.Rusage)
		if !ok {
			t.Fatal("the system does not report the use of memory")
		}
		cpu := (cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()).Seconds()
		t.Logf("%s: %d rows in %.2f s (%.0f a second), %.2f s of CPU, at most %d MB of memory", what, rows, wall, float64(rows)/wall, cpu, usage.Maxrss>>10)
		w.compare()
	}
	count := func(format string) string { return strings.ReplaceAll(format, "$N", strconv.Itoa(*large)) }
	w.exec(count("INSERT INTO people SELECT i, 'p' || i, repeat(md5(i::text), 10), i FROM generate_series(1, $N) i"))
	measure("a transaction that inserts", *large)
	w.exec("UPDATE people SET age = age + 1")
	measure("a transaction that updates", *large)
	w.exec("UPDATE people SET id = -id WHERE id % 100 = 0; DELETE FROM people WHERE id % 3 = 0")
	measure("a transaction that deletes a third and changes keys", *large/3)
	w.exec(count("DO $$ BEGIN FOR i IN 1..$N/5 LOOP UPDATE people SET age = i WHERE id BETWEEN i AND i + 7 AND id % 3 <> 0; COMMIT; END LOOP; END $$"))
	measure("transactions of five rows", *large)
}
