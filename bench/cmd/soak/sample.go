package main

import (
	"bufio"
	"context"
	"fmt"
	"net/http"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"
)

// sample is what the server took at one moment.
type sample struct {
	at         time.Duration // since the clients began
	rss        int64         // KiB of resident memory
	threads    int64
	goroutines int64 // 0 where the server does not tell
	commits    int64 // acknowledged by then
}

// sample looks at the server.
func (p *server) sample(at time.Duration) (sample, error) {
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", p.cmd.Process.Pid))
	if err != nil {
		return sample{}, err
	}
	s := sample{at: at, goroutines: p.goroutines()}
	for line := range strings.Lines(string(status)) {
		name, value, _ := strings.Cut(line, ":")
		fields := strings.Fields(value)
		if len(fields) == 0 {
			continue
		}
		switch name {
		case "VmRSS":
			s.rss, err = strconv.ParseInt(fields[0], 10, 64)
		case "Threads":
			s.threads, err = strconv.ParseInt(fields[0], 10, 64)
		}
		if err != nil {
			return sample{}, fmt.Errorf("%s: %w", strings.TrimSpace(line), err)
		}
	}
	if s.rss == 0 {
		return sample{}, fmt.Errorf("/proc/%d/status tells no resident memory", p.cmd.Process.Pid)
	}
	return s, nil
}

// goroutines asks the server's metrics, and returns 0 when there are none.
func (p *server) goroutines() int64 {
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+p.addr+"/metrics", nil)
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

// thirds returns the median of what a field has in each third of the samples.
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

func rss(s sample) int64        { return s.rss }
func threads(s sample) int64    { return s.threads }
func goroutines(s sample) int64 { return s.goroutines }
func commits(s sample) int64    { return s.commits }
