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

// arrowColumns is the number of numbers in each row of numbers, and arrowText the number of bytes in each row with a
// text.
const arrowColumns, arrowText = 16, 400

// TestArrowMemory reads a million rows from the built server as one Arrow stream, with a query and as an
// export, and compares the peak of the server's own memory with that of a server which answers a page of 1,000
// rows. Mapped files do not count: the system takes their memory back when it needs it. The peaks may differ by the
// size to which the heap may always grow before the garbage collector runs, and for texts by twice the memory for
// decompressed parts of files, since the collector lets the heap double. The streams have at least twice as many bytes. The
// numbers are random. The texts are compressed in the files, and take more memory than the server may use to keep texts
// decompressed. Each measurement has a server of its own, since the peak of a process only grows.
func TestArrowMemory(t *testing.T) {
	if testing.Short() || runtime.GOOS != "linux" {
		t.Skip("the test loads a million rows, and reads /proc")
	}
	t.Run("numbers", func(t *testing.T) {
		var columns []string
		for i := range arrowColumns {
			columns = append(columns, fmt.Sprintf("n%d: I64", i))
		}
		random := rand.New(rand.NewPCG(1, 2))
		arrowMemory(t, columns, arrowColumns*8, 64, func(b []byte) []byte {
			for c := 1; c < arrowColumns; c++ {
				b = fmt.Appendf(b, `,"n%d":"%d"`, c, random.Int64())
			}
			return b
		})
	})
	t.Run("texts", func(t *testing.T) {
		random := rand.New(rand.NewPCG(1, 2))
		arrowMemory(t, []string{"n0: I64", "body: String"}, arrowText, 64+2*32, func(b []byte) []byte {
			b = append(b, `,"body":"`...)
			for n := 0; n < arrowText/5; n++ {
				b = fmt.Appendf(b, "w%03d ", random.IntN(1000))
			}
			return append(b, '"')
		})
	})
}

// arrowMemory is TestArrowMemory for rows of some columns. The first column has the number of the row; the function
// `row` appends the JSON of the others. A row has about `bytes` bytes, and `allowed` MiB is by how much the peaks may differ.
func arrowMemory(t *testing.T, schema []string, bytes, allowed int, row func([]byte) []byte) {
	const rows = 1_000_000
	dir := millionRows(t, rows, schema, row)
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
	for _, c := range schema {
		name, _, _ := strings.Cut(c, ":")
		columns = append(columns, "$r."+name+" as "+name)
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
		if size < bytes*rows>>20 || size < 2*allowed-10 {
			t.Errorf("%s sent only %d MiB: the test proves nothing", path, size)
		}
		if own > anonymous+allowed {
			t.Errorf("%s took %d MiB of memory, and a page %d MiB", path, own, anonymous)
		}
	}
}

// millionRows makes a cluster whose graph has rows with a key, and with the columns of the schema.
func millionRows(t *testing.T, rows int, columns []string, row func([]byte) []byte) string {
	t.Helper()
	dir := t.TempDir()
	write(t, filepath.Join(dir, "schema.pg"), "node Row {\n  key: String @key\n  "+strings.Join(columns, "\n  ")+"\n}\n")
	write(t, filepath.Join(dir, "cluster.yaml"), "version: 1\nmetadata: { name: rows }\nstorage: ./data\ngraphs:\n  rows:\n    schema: schema.pg\n"+
		"policies:\n  base: { file: policy.yaml, applies_to: [rows] }\n")
	write(t, filepath.Join(dir, "policy.yaml"), "version: 1\nrules:\n  - id: all\n    allow: { actors: { ids: [act-dev] }, actions: [read, export] }\n")
	data := filepath.Join(dir, "rows.ndjson")
	f, err := os.Create(data)
	if err != nil {
		t.Fatal(err)
	}
	w := bufio.NewWriterSize(f, 1<<20)
	var line []byte
	for i := range rows {
		line = row(fmt.Appendf(line[:0], `{"type":"Row","data":{"key":"r%d","n0":%[1]d`, i))
		if _, err := w.Write(append(line, "}}\n"...)); err != nil {
			t.Fatal(err)
		}
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
