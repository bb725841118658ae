package main

import (
	"bufio"
	"context"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/omnigraph-go/omnigraph/internal/bench/serverproc"
)

// sample is the server's use of resources at one moment.
type sample struct {
	at         time.Duration // time since the clients started
	rss        int64         // KiB of resident memory
	threads    int64         // threads of the server's process
	goroutines int64         // 0 if the metrics were not available
	commits    int64         // acknowledged so far
}

// take measures the resources that the server uses.
func take(p *serverproc.Server, at time.Duration) (sample, error) {
	status, err := p.Status()
	if err != nil {
		return sample{}, err
	}
	s := sample{at: at, goroutines: goroutineCount(p)}
	if s.rss, err = serverproc.KiB(status, "VmRSS"); err != nil {
		return sample{}, err
	}
	if s.threads, err = strconv.ParseInt(status["Threads"], 10, 64); err != nil {
		return sample{}, fmt.Errorf("reading the number of threads of the server: %w", err)
	}
	return s, nil
}

// goroutineCount reads the server's metrics. It returns 0 if they are not available.
func goroutineCount(p *serverproc.Server) int64 {
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+p.Addr+"/metrics", nil)
	if err != nil {
		return 0
	}
	req.Header.Set("Authorization", "Bearer "+tokenOf(everything))
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return 0
	}
	defer res.Body.Close()
	if res.StatusCode != http.StatusOK {
		return 0
	}
	for lines := bufio.NewScanner(res.Body); lines.Scan(); {
		if value, ok := strings.CutPrefix(lines.Text(), "go_goroutines "); ok {
			n, err := strconv.ParseFloat(value, 64)
			if err != nil {
				return 0
			}
			return int64(n)
		}
	}
	return 0
}

// thirds returns the median of a field in each third of the samples.
func thirds(samples []sample, field func(sample) int64) (m [3]int64) {
	for i := range m {
		part := samples[i*len(samples)/3 : (i+1)*len(samples)/3]
		values := make([]int64, len(part))
		for j, s := range part {
			values[j] = field(s)
		}
		slices.Sort(values)
		if len(values) > 0 {
			m[i] = values[len(values)/2]
		}
	}
	return m
}

// rss, threads, goroutines and commits return a field of a sample.
func rss(s sample) int64        { return s.rss }
func threads(s sample) int64    { return s.threads }
func goroutines(s sample) int64 { return s.goroutines }
func commits(s sample) int64    { return s.commits }
