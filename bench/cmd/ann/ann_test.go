package main

import (
	"bytes"
	"context"
	"errors"
	"io"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"
)

// TestMain is also the main function of the processes that a run starts.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && (os.Args[1] == "-serve" || os.Args[1] == "-generate") {
		main()
		return
	}
	os.Exit(m.Run())
}

func TestArguments(t *testing.T) {
	for _, test := range []struct{ args, want string }{
		{"-rows 10", "-rows 10: an index needs at least 5000 vectors"},
		{"-dim 3", "-dim 3: expected 16 to 4096"},
		{"-queries 0", "-queries must be above 0"},
		{"-only ann,oracle", `unknown database "oracle"`},
		{"-serve oracle", `-serve "oracle": expected exact or ann`},
		{"extra", `unexpected argument "extra"`},
	} {
		err := run(t.Context(), strings.Fields(test.args), strings.NewReader(""), io.Discard, io.Discard)
		if err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: %v, want an error with %q", test.args, err, test.want)
		}
	}
}

// TestVectors checks properties of the generated vectors: they have unit length, the same seed gives
// the same vectors, and around each vector the others fill few dimensions.
func TestVectors(t *testing.T) {
	const dim, n = 256, 4000
	s, again := newSpace(dim, 7), newSpace(dim, 7)
	vectors := make([][]float32, n)
	for row := range vectors {
		vectors[row] = make([]float32, dim)
		s.fill(vectors[row], row)
		if length := math.Sqrt(dot(vectors[row], vectors[row])); math.Abs(length-1) > 1e-5 {
			t.Fatalf("vector %d has length %g", row, length)
		}
	}
	v := make([]float32, dim)
	if again.fill(v, n-1); !slices.Equal(v, vectors[n-1]) {
		t.Error("the same seed gave another vector")
	}
	// The estimate of Levina and Bickel: the mean over points of the inverse of the mean logarithm of
	// the ratios between the distance of the k-th neighbour and those of the closer ones.
	const k = 20
	var sum, near, far float64
	points := 0
	for i := 0; i < n; i += 40 {
		var distances []float64
		for j := range vectors {
			if j != i {
				distances = append(distances, math.Sqrt(max(0, 2-2*dot(vectors[i], vectors[j]))))
			}
		}
		slices.Sort(distances)
		logs := 0.0
		for _, d := range distances[:k-1] {
			logs += math.Log(distances[k-1] / d)
		}
		sum += (k - 2) / logs
		near, far = near+distances[0], far+distances[len(distances)/2]
		points++
	}
	dimensions := sum / float64(points)
	if dimensions < 10 || dimensions > 30 {
		t.Errorf("the vectors have about %.1f dimensions locally, expected 10 to 30", dimensions)
	}
	if near > 0.7*far {
		t.Errorf("the mean distance of the closest vector is %.2f, and that of the median one %.2f", near/float64(points), far/float64(points))
	}
	t.Logf("%.1f dimensions; the closest vector at %.2f, the median one at %.2f", dimensions, near/float64(points), far/float64(points))
}

// dot returns the inner product of two vectors.
func dot(a, b []float32) (sum float64) {
	for i := range a {
		sum += float64(a[i]) * float64(b[i])
	}
	return sum
}

// TestRecall checks that a row found twice counts once, and that the order of the rows does not matter.
func TestRecall(t *testing.T) {
	want := [][]int{{1, 2, 3, 4}, {5, 6, 7, 8}}
	for _, test := range []struct {
		got    [][]int
		recall float64
	}{
		{[][]int{{4, 3, 2, 1}, {5, 6, 7, 8}}, 1},
		{[][]int{{1, 1, 1, 1}, {5, 6, 7, 9}}, 0.5},
		{[][]int{{1, 2, 3, 4}}, 0.5},
		{nil, 0},
	} {
		if got := recall(test.got, want); got != test.recall {
			t.Errorf("recall of %v is %g, want %g", test.got, got, test.recall)
		}
	}
}

// fake is a database that finds the number in a query's first component.
type fake struct{ searched, closed int }

func (f *fake) greet() greeting            { return greeting{Version: "fake", Efforts: []string{"none"}} }
func (f *fake) load(context.Context) error { return nil }
func (f *fake) close() error               { f.closed++; return nil }
func (f *fake) index(context.Context) error {
	return errors.New("no space left")
}

func (f *fake) search(_ context.Context, q []float32, filtered bool) ([]int, time.Duration, error) {
	f.searched++
	row := int(q[0])
	if filtered {
		row += 100
	}
	return []int{row}, 3 * time.Microsecond, nil
}

// TestServe checks the replies of a database's process.
func TestServe(t *testing.T) {
	queries := [][]float32{{0}, {1}, {2}, {3}, {4}, {5}}
	requests := `{"do":"load"}
{"do":"index"}
{"do":"search","filtered":true,"warm":1}
{"do":"dance"}
`
	var out bytes.Buffer
	f := &fake{}
	if err := serve(t.Context(), f, queries, strings.NewReader(requests), &out); err != nil {
		t.Fatal(err)
	}
	want := `{"absent":"","version":"fake","processes":null,"tree":false,"efforts":["none"],"linear":false}
{"error":"","answers":null,"micros":null}
{"error":"no space left","answers":null,"micros":null}
{"error":"","answers":[[103],[104],[105]],"micros":[3,3,3]}
{"error":"unknown request \"dance\"","answers":null,"micros":null}
`
	if out.String() != want {
		t.Errorf("the replies are\n%s\nexpected\n%s", &out, want)
	}
	if f.searched != 4 || f.closed != 1 {
		t.Errorf("the database searched %d times and was closed %d times, expected 4 and 1", f.searched, f.closed)
	}
}

// TestRun measures the engine with and without an index. A second run must search the databases that
// the first one kept, and load none.
func TestRun(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("only Linux tells the memory of a process in /proc")
	}
	dir := t.TempDir()
	args := []string{"-rows", "5000", "-dim", "32", "-queries", "20", "-dir", dir, "-keep", "-python", "no-such-python"}
	var out, progress bytes.Buffer
	if err := run(t.Context(), append(args, "-only", "ann,exact"), strings.NewReader(""), &out, &progress); err != nil {
		t.Fatalf("%v\n%s", err, &progress)
	}
	var r result
	if err := readJSON(filepath.Join(dir, "5000x32-42", "ann.json"), &r); err != nil {
		t.Fatal(err)
	}
	if r.All.Recall < 0.97 || r.Filtered.Recall != 1 || r.Disk < 5000*32*5 || r.Load.Peak.Own == 0 || r.Index.Processor == 0 || r.Searching.Own == 0 {
		t.Errorf("the result is %+v", r)
	}
	for _, want := range []string{"omnigraph, exact scan | exact | 1.0000", "omnigraph, @ann | as built"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("the tables lack %q:\n%s", want, &out)
		}
	}
	if n := strings.Count(progress.String(), ": load"); n != 2 {
		t.Errorf("the first run loaded %d databases, expected 2:\n%s", n, &progress)
	}
	progress.Reset()
	if err := run(t.Context(), append(args, "-only", "ann"), strings.NewReader(""), io.Discard, &progress); err != nil {
		t.Fatalf("%v\n%s", err, &progress)
	}
	if strings.Contains(progress.String(), ": load") {
		t.Errorf("the second run loaded a database again:\n%s", &progress)
	}
	if err := run(t.Context(), append(args, "-only", "pgvector"), strings.NewReader(""), &out, &progress); err != nil || !strings.Contains(out.String(), "left out") {
		t.Errorf("without a program the run returned %v and printed\n%s", err, &out)
	}
}
