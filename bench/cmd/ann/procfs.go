package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"
)

// memory is the memory of some processes, in bytes. The kernel divides a page that several
// processes share among them, so it counts once.
type memory struct {
	Own    int64 // anonymous memory: RssAnon of a single process
	Mapped int64 // pages of mapped files, and memory shared among the processes
}

// memoryInterval is the time between two samples of the memory.
const memoryInterval = 250 * time.Millisecond

// pids lists the processes of a database that count.
func (p *process) pids() []int {
	all := append([]int(nil), p.Processes...)
	for i := 0; p.Tree && i < len(all); i++ {
		files, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/children", all[i])) // no process, no children
		for _, file := range files {
			text, _ := os.ReadFile(file) // a process may have ended
			for child := range strings.FieldsSeq(string(text)) {
				if pid, err := strconv.Atoi(child); err == nil {
					all = append(all, pid)
				}
			}
		}
	}
	return all
}

// memory returns the memory that a database uses. A process that ends meanwhile does not count.
func (p *process) memory() (sum memory) {
	for _, pid := range p.pids() {
		text, err := os.ReadFile(fmt.Sprintf("/proc/%d/smaps_rollup", pid))
		if err != nil {
			continue
		}
		for line := range strings.Lines(string(text)) {
			fields := strings.Fields(line)
			if len(fields) != 3 || fields[2] != "kB" {
				continue
			}
			n, _ := strconv.ParseInt(fields[1], 10, 64) // the kernel writes a number
			switch fields[0] {
			case "Pss_Anon:":
				sum.Own += n << 10
			case "Pss_File:", "Pss_Shmem:":
				sum.Mapped += n << 10
			}
		}
	}
	return sum
}

// watchMemory samples the memory of a database until the function `stop` is called, which returns
// the highest values.
func (p *process) watchMemory() (stop func() memory) {
	var most memory
	done := make(chan struct{})
	var wg sync.WaitGroup
	wg.Go(func() {
		for {
			m := p.memory()
			most.Own, most.Mapped = max(most.Own, m.Own), max(most.Mapped, m.Mapped)
			select {
			case <-done:
				return
			case <-time.After(memoryInterval):
			}
		}
	})
	return func() memory {
		close(done)
		wg.Wait()
		return most
	}
}

// ticksPerSecond is USER_HZ, the unit of the times in /proc/PID/stat.
const ticksPerSecond = 100

// processor returns the processor time of a database: that of its processes, and with Tree that of
// the processes that they started and that have ended.
func (p *process) processor() (sum time.Duration) {
	last := 13 // utime and stime; see proc_pid_stat(5)
	if p.Tree {
		last = 15 // cutime and cstime too
	}
	for _, pid := range p.pids() {
		text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
		if err != nil {
			continue
		}
		// The second field is the name in parentheses, which may hold spaces.
		fields := strings.Fields(string(text[strings.LastIndexByte(string(text), ')')+1:]))
		for _, field := range fields[11:last] {
			n, _ := strconv.ParseInt(field, 10, 64) // the kernel writes a number
			sum += time.Duration(n) * time.Second / ticksPerSecond
		}
	}
	return sum
}
