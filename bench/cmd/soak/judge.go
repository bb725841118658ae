package main

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/omnigraph-go/omnigraph/internal/bench/measure"
)

// verdict compares the last third of a run with the middle third. It accepts growth within these
// margins.
//
// Each commit keeps some memory for good: about 75 bytes in the history, and about 100 more for the
// name of each branch ever written; a run creates one branch for every ten commits. For a day, the
// server also keeps 120 bytes for each idempotency key, one for every six commits. The garbage
// collector lets the live heap double. rssPerCommit allows for all this; the size of the data
// itself does not grow. The other margins are for noise: the live heap rises and falls by some
// megabytes between checkpoints.
const (
	rssMargin       = 0.10        // allowed growth, as a share of the middle third
	rssAllowance    = 16 << 10    // KiB
	rssPerCommit    = 0.25        // KiB
	rssAfter        = time.Minute // in shorter runs, memory has not reached its level
	goroutineMargin = 0.10        // allowed growth, as a share of the middle third
	goroutineSlack  = 16          // the server uses two for each client connection
	threadSlack     = 8           // how many more threads the last third may have
)

// verdict returns the faults of a run, joined into one error, or nil.
func (r *result) verdict() error {
	var errs []error
	fail := func(format string, args ...any) { errs = append(errs, fmt.Errorf(format, args...)) }
	r.book.mu.Lock()
	defer r.book.mu.Unlock()
	if r.book.failed > 0 {
		fail("nothing in the run explains %d answers; the first ones are:\n%s", r.book.failed, strings.Join(r.book.failures, "\n"))
	}
	for _, operation := range slices.Sorted(maps.Keys(explained)) {
		switch p := r.book.pages[operation]; {
		case p == nil:
			fail("%q was never tried: the run is too short to say anything", operation)
		case !slices.ContainsFunc(explained[operation], func(status int) bool { return p.statuses[status] > 0 }):
			fail("%q was never answered with one of %v: the server refused it every time", operation, explained[operation])
		}
	}
	if r.end.err != nil {
		fail("stopping the server under load failed: %w", r.end.err)
	}
	if len(r.lost) > 0 {
		fail("the store differs from the acknowledged writes in %d places:\n%s", len(r.lost), strings.Join(r.lost[:min(maxFailures, len(r.lost))], "\n"))
	}
	if r.checked == 0 {
		fail("the run compared no note or branch of the store")
	}
	if n := len(r.samples); n > 0 && r.samples[n-1].at >= rssAfter {
		made := thirds(r.samples, commits)
		errs = append(errs, level("resident memory in KiB", thirds(r.samples, rss), rssMargin, rssAllowance+int64(rssPerCommit*float64(made[2]-made[1]))))
	}
	if told := thirds(r.samples, goroutines); slices.Contains(told[:], 0) {
		fail("the server's metrics did not give the number of goroutines")
	}
	errs = append(errs, level("goroutines", thirds(r.samples, goroutines), goroutineMargin, goroutineSlack))
	errs = append(errs, level("threads", thirds(r.samples, threads), 0, threadSlack))
	return errors.Join(errs...)
}

// level compares the values of the middle and the last third of a run. It returns an error if the
// last value exceeds middle*(1+margin)+slack.
func level(what string, m [3]int64, margin float64, slack int64) error {
	most := m[1] + int64(margin*float64(m[1])) + slack
	if m[2] <= most {
		return nil
	}
	return fmt.Errorf("%s grew too much: the medians of the three thirds of the run are %d, %d and %d; the last must be at most %d", what, m[0], m[1], m[2], most)
}

// print prints the number and times of the calls, and the resources that the server used.
func (r *result) print(w io.Writer) {
	tw := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(tw, "operation\tcalls\tp50\tp99\tworst\tstatuses\t")
	r.book.mu.Lock()
	defer r.book.mu.Unlock()
	calls := 0
	for _, name := range slices.Sorted(maps.Keys(r.book.pages)) {
		p := r.book.pages[name]
		calls += len(p.took)
		slices.Sort(p.took)
		var statuses []string
		for _, status := range slices.Sorted(maps.Keys(p.statuses)) {
			statuses = append(statuses, fmt.Sprintf("%d: %d", status, p.statuses[status]))
		}
		fmt.Fprintf(tw, "%s\t%d\t%s\t%s\t%s\t%s\t\n", name, len(p.took), short(measure.Quantile(p.took, 0.5)), short(measure.Quantile(p.took, 0.99)), short(measure.Quantile(p.took, 1)), strings.Join(statuses, ", "))
	}
	fmt.Fprintf(tw, "all\t%d\t\t\t\t\t\n", calls)
	tw.Flush()
	fmt.Fprintln(w)
	fmt.Fprintln(tw, "medians by thirds\tfirst\tmiddle\tlast\t")
	for _, row := range []struct {
		name  string
		field func(sample) int64
	}{{"resident memory, KiB", rss}, {"goroutines", goroutines}, {"threads", threads}, {"commits", commits}} {
		m := thirds(r.samples, row.field)
		fmt.Fprintf(tw, "%s\t%d\t%d\t%d\t\n", row.name, m[0], m[1], m[2])
	}
	tw.Flush()
	fmt.Fprint(w, "resident memory in MiB, by seconds:")
	for i, s := range r.samples {
		if i%max(1, len(r.samples)/20) == 0 {
			fmt.Fprintf(w, " %.0f: %d", s.at.Seconds(), s.rss>>10)
		}
	}
	fmt.Fprintln(w)
	fmt.Fprintf(w, "\nthe server stopped under load in %s; compared %d notes and branches of the store; %d differ\n", short(r.end.took), r.checked, len(r.lost))
}

// short rounds a time for the table.
func short(d time.Duration) string {
	if d < time.Millisecond {
		return d.Round(time.Microsecond).String()
	}
	return d.Round(100 * time.Microsecond).String()
}
