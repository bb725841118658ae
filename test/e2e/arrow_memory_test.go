package e2e

import (
	"bufio"
	"fmt"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/ipc"

	"github.com/omnigraph-go/omnigraph/client"
)

// arrowColumns is the number of numbers in each row of TestArrowMemory.
const arrowColumns = 16

// TestArrowMemory reads a million rows from the built server as one Arrow stream, with a query and as an
// export, and compares the peak of the server's own memory with that of a server which answers a page of 1,000
// rows. Mapped files do not count: the system takes their memory back when it needs it. The stream has about
// twice as many bytes as the peaks may differ by, which is how much the heap may always grow before the garbage
// collector runs. The rows have random numbers, which the engine reads from the files; texts stay in memory
// after they were decompressed. Each measurement has a server of its own, since the peak of a process only
// grows.
func TestArrowMemory(t *testing.T) {
	if testing.Short() || runtime.GOOS != "linux" {
		t.Skip("the test loads a million rows, and reads /proc")
	}
	const rows, allowed = 1_000_000, 64 // allowed is in MiB
	dir := millionRows(t, rows)
	request := func(p *process, path, body string) *http.Response {
		t.Helper()
		req, err := http.NewRequest(http.MethodPost, "http://"+p.addr+path, strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Authorization", "Bearer "+p.token)
		req.Header.Set("Content-Type", "application/json")
		req.Header.Set("Accept", client.MediaArrow)
		res, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		if res.StatusCode != http.StatusOK {
			t.Fatalf("%s has status %d", path, res.StatusCode)
		}
		return res
	}
	var columns []string
	for i := range arrowColumns {
		columns = append(columns, fmt.Sprintf("$r.n%d as n%[1]d", i))
	}
	query := `{"query":"query q() { match { $r: Row } return { ` + strings.Join(columns, ", ") + ` } }"%s}`
	// peaks returns, in MiB, the peak of all memory of a server of its own, that of its memory which is no file,
	// and the size of the answer.
	peaks := func(path, body string, want int64) (all, anonymous, size int) {
		t.Helper()
		p := start(t, dir)
		defer p.stop()
		res := request(p, path, body)
		defer res.Body.Close()
		counted := &countingReader{r: res.Body}
		in, err := ipc.NewReader(bufio.NewReaderSize(counted, 1<<16))
		if err != nil {
			t.Fatal(err)
		}
		defer in.Release()
		var n, sum int64
		for in.Next() {
			b := in.RecordBatch()
			n += b.NumRows()
			for _, i := range b.Schema().FieldIndices("n0") {
				for _, v := range b.Column(i).(*array.Int64).Int64Values() {
					sum += v
				}
			}
			anonymous = max(anonymous, p.memory("RssAnon"))
		}
		if err := in.Err(); err != nil {
			t.Fatal(err)
		}
		if n != want || want == rows && sum != rows*(rows-1)/2 {
			t.Errorf("%s answers %d rows, whose first numbers have the sum %d; want %d rows", path, n, sum, want)
		}
		return p.memory("VmHWM"), max(anonymous, p.memory("RssAnon")), int(counted.n >> 20)
	}
	all, anonymous, _ := peaks("/graphs/rows/query", fmt.Sprintf(query, `,"max_rows":1000`), 1000)
	t.Logf("a page of 1,000 rows: peak %d MiB, of which %d MiB are no file", all, anonymous)
	for path, body := range map[string]string{
		"/graphs/rows/query": fmt.Sprintf(query, ""), "/graphs/rows/export": `{"type_names":["Row"]}`,
	} {
		most, own, size := peaks(path, body, rows)
		t.Logf("%s, %d rows in %d MiB: peak %d MiB, of which %d MiB are no file", path, rows, size, most, own)
		if size < arrowColumns*8*rows>>20 {
			t.Errorf("%s sent only %d MiB: the test proves nothing", path, size)
		}
		if own > anonymous+allowed {
			t.Errorf("%s took %d MiB of memory, and a page %d MiB", path, own, anonymous)
		}
	}
}

// millionRows makes a cluster whose graph has rows with numbers: the number of the row, and random ones.
func millionRows(t *testing.T, rows int) string {
	t.Helper()
	dir := t.TempDir()
	var schema strings.Builder
	schema.WriteString("node Row {\n  key: String @key\n")
	for i := range arrowColumns {
		fmt.Fprintf(&schema, "  n%d: I64\n", i)
	}
	write(t, filepath.Join(dir, "schema.pg"), schema.String()+"}\n")
	write(t, filepath.Join(dir, "cluster.yaml"), "version: 1\nmetadata: { name: rows }\nstorage: ./data\ngraphs:\n  rows:\n    schema: schema.pg\n"+
		"policies:\n  base: { file: policy.yaml, applies_to: [rows] }\n")
	write(t, filepath.Join(dir, "policy.yaml"), "version: 1\nrules:\n  - id: all\n    allow: { actors: { ids: [act-dev] }, actions: [read, export] }\n")
	data := filepath.Join(dir, "rows.ndjson")
	f, err := os.Create(data)
	if err != nil {
		t.Fatal(err)
	}
	w := bufio.NewWriterSize(f, 1<<20)
	random := rand.New(rand.NewPCG(1, 2))
	for i := range rows {
		fmt.Fprintf(w, `{"type":"Row","data":{"key":"r%d","n0":%[1]d`, i)
		for c := 1; c < arrowColumns; c++ {
			fmt.Fprintf(w, `,"n%d":"%d"`, c, random.Int64())
		}
		fmt.Fprintln(w, "}}")
	}
	if err := w.Flush(); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	store := filepath.Join(dir, "data", "rows")
	omnigraph(t, "init", "--schema", filepath.Join(dir, "schema.pg"), "--store", store)
	omnigraph(t, "load", "--store", store, "--data", data, "--mode", "overwrite")
	if err := os.Remove(data); err != nil {
		t.Fatal(err)
	}
	return dir
}

// countingReader counts the bytes that are read.
type countingReader struct {
	r interface{ Read([]byte) (int, error) }
	n int64
}

func (c *countingReader) Read(p []byte) (int, error) {
	n, err := c.r.Read(p)
	c.n += int64(n)
	return n, err
}
