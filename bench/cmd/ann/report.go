package main

import (
	"fmt"
	"io"
	"time"
)

// report prints the tables of a run.
func report(w io.Writer, o options, results []*result) {
	fmt.Fprintf(w, "%d vectors of %d components, seed %d, %d searches of each kind.\n\n", o.rows, o.dim, o.seed, o.queries)
	fmt.Fprintln(w, "| database | setting | recall@10 | p50 | p99 | processor | filtered: setting | recall@10 | p50 | p99 | processor | own memory | mapped or shared | load averages |")
	fmt.Fprintln(w, "| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |")
	for _, r := range results {
		if r.Absent != "" {
			fmt.Fprintf(w, "| %s | left out: %s | | | | | | | | | | | | |\n", r.Name, r.Absent)
			continue
		}
		fmt.Fprintf(w, "| %s | %v | %v | %s | %s | %s |\n", r.Version, r.All, r.Filtered, megabytes(r.Searching.Own), megabytes(r.Searching.Mapped), r.After)
	}
	fmt.Fprintln(w)
	fmt.Fprintln(w, "| database | load | processor | peak memory | mapped or shared | index | processor | peak memory | mapped or shared | disk | load averages |")
	fmt.Fprintln(w, "| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |")
	for _, r := range results {
		if r.Absent == "" {
			fmt.Fprintf(w, "| %s | %v | %v | %s | %s |\n", r.Version, r.Load, r.Index, megabytes(r.Disk), r.Before)
		}
	}
}

// String returns five cells of a table.
func (f found) String() string {
	return fmt.Sprintf("%s | %.4f | %s | %s | %s", f.Effort, f.Recall, milliseconds(f.P50), milliseconds(f.P99), milliseconds(f.Processor))
}

// String returns four cells of a table.
func (s step) String() string {
	return fmt.Sprintf("%.1f s | %.1f s | %s | %s", s.Wall.Seconds(), s.Processor.Seconds(), megabytes(s.Peak.Own), megabytes(s.Peak.Mapped))
}

// megabytes returns a number of bytes in megabytes.
func megabytes(bytes int64) string { return fmt.Sprintf("%d MB", (bytes+500_000)/1_000_000) }

// milliseconds returns a duration in milliseconds.
func milliseconds(d time.Duration) string {
	return fmt.Sprintf("%.2f ms", float64(d.Microseconds())/1000)
}
