package main

import (
	"bufio"
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"
)

// memory is the peak memory of a process, in bytes.
type memory struct {
	RSS  int64 // resident memory, including mapped files
	Anon int64 // resident memory without pages of mapped files; sampled
}

// watchMemory samples memory periodically until the function `stop` is called. This function
// returns the maximum.
func watchMemory(sample func() (memory, error)) (stop func() memory) {
	var most memory
	done := make(chan struct{})
	var wg sync.WaitGroup
	wg.Go(func() {
		for {
			// If a process ends during the sample, the sample fails and is skipped. A process that
			// still runs is sampled again.
			if m, err := sample(); err == nil {
				most.RSS, most.Anon = max(most.RSS, m.RSS), max(most.Anon, m.Anon)
			}
			select {
			case <-done:
				return
			case <-time.After(10 * time.Millisecond):
			}
		}
	})
	return func() memory {
		close(done)
		wg.Wait()
		return most
	}
}

// ownMemory returns the memory of this process. RSS is the kernel's own peak value, so it is exact.
func ownMemory() (memory, error) {
	return readMemory("/proc/self/status", "VmHWM", "RssAnon")
}

// treeMemory returns the memory of a process and its children. The kernel divides a shared page
// among the processes that map it, so it counts once.
func treeMemory(pid int) (memory, error) {
	sum, err := readMemory(fmt.Sprintf("/proc/%d/smaps_rollup", pid), "Pss", "Pss_Anon")
	if err != nil {
		return memory{}, err
	}
	children, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/children", pid))
	if err != nil {
		return memory{}, err
	}
	for _, file := range children {
		list, err := os.ReadFile(file)
		if err != nil {
			return memory{}, err
		}
		for _, child := range strings.Fields(string(list)) {
			// A backend process may have ended since it was listed.
			if m, err := readMemory("/proc/"+child+"/smaps_rollup", "Pss", "Pss_Anon"); err == nil {
				sum.RSS += m.RSS
				sum.Anon += m.Anon
			}
		}
	}
	return sum, nil
}

// readMemory reads a smaps file. `all` and `anon` are the names of the lines with the whole memory
// and the anonymous memory.
func readMemory(file, all, anon string) (m memory, err error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return m, err
	}
	for lines := bufio.NewScanner(bytes.NewReader(text)); lines.Scan(); {
		fields := strings.Fields(lines.Text())
		if len(fields) != 3 || fields[2] != "kB" {
			continue
		}
		n, err := strconv.ParseInt(fields[1], 10, 64)
		if err != nil {
			return m, err
		}
		switch strings.TrimSuffix(fields[0], ":") {
		case all:
			m.RSS = n << 10
		case anon:
			m.Anon = n << 10
		}
	}
	return m, nil
}
