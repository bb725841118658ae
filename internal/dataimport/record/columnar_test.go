package record

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/omnigraph-go/omnigraph/internal/golden"
)

// TestColumnar reads files that pandas, DuckDB and pyarrow wrote.
func TestColumnar(t *testing.T) {
	var b strings.Builder
	for _, name := range []string{"pandas.parquet", "pandas.feather", "duckdb.parquet", "stream.arrows", "stream.arrows.gz"} {
		fmt.Fprintf(&b, "== %s\n%s", name, strings.ReplaceAll(dump(File{Name: name, Path: filepath.Join("testdata", name)}, Options{}), " ", "\n  "))
	}
	fmt.Fprintf(&b, "== some columns\n%s", dump(File{Name: "pandas.parquet", Path: "testdata/pandas.parquet"}, Options{}, "o.b.c", "i"))
	fmt.Fprintf(&b, "== some columns\n%s", dump(File{Name: "stream.arrows", Path: "testdata/stream.arrows"}, Options{}, "dict", "n"))
	golden.Check(t, "testdata/columnar.golden", []byte(b.String()))
}

func TestColumnarCounts(t *testing.T) {
	for _, name := range []string{"pandas.parquet", "stream.arrows"} {
		read := 0
		dump(File{Name: name, Path: filepath.Join("testdata", name)}, Options{Count: func(n int) { read += n }})
		if read == 0 {
			t.Errorf("%s: no bytes were counted", name)
		}
	}
}

// TestDamagedColumnar reads files that are cut, and such with one changed byte. Each must end with a fault or with records.
func TestDamagedColumnar(t *testing.T) {
	for _, name := range []string{"pandas.parquet", "duckdb.parquet", "pandas.feather", "stream.arrows"} {
		whole, err := os.ReadFile(filepath.Join("testdata", name))
		if err != nil {
			t.Fatal(err)
		}
		if got := dump(file(t, name, whole[:len(whole)/2]), Options{}); !strings.Contains(got, name) {
			t.Errorf("%s, cut: %s", name, got)
		}
		for at := 0; at < len(whole); at += 97 {
			damaged := append([]byte(nil), whole...)
			damaged[at] ^= 0x55
			dump(file(t, name, damaged), Options{})
		}
	}
}

// FuzzColumnar checks that a damaged file of Parquet or Arrow ends with a fault or with records.
func FuzzColumnar(f *testing.F) {
	formats := []string{Parquet, Arrow}
	for _, name := range []string{"duckdb.parquet", "pandas.parquet", "pandas.feather", "stream.arrows"} {
		whole, err := os.ReadFile(filepath.Join("testdata", name))
		if err != nil {
			f.Fatal(err)
		}
		f.Add(FormatOf(name) == Arrow, whole)
		f.Add(FormatOf(name) != Arrow, whole) // a file with the extension of the other format
	}
	f.Fuzz(func(t *testing.T, arrow bool, content []byte) {
		format := formats[0]
		if arrow {
			format = formats[1]
		}
		dump(file(t, "a", content), Options{Format: format})
	})
}
