package evaluation

import (
	"fmt"
	"io"
	"strings"
)

// percent returns a part of a whole in percent. The whole of nothing is 100 percent.
func percent(part, whole int) float64 {
	if whole == 0 {
		return 100
	}
	return 100 * float64(part) / float64(whole)
}

// Missed returns a sentence for each goal that the catalog misses.
func (r *Report) Missed() []string {
	var missed []string
	if p := percent(r.Found.Found, r.Found.Questions); p < FoundGoal {
		missed = append(missed, fmt.Sprintf("%.1f %% of the questions find their tools, fewer than %.0f %%; use the words of the missed questions in descriptions", p, FoundGoal))
	}
	if p := percent(r.Repair.One, r.Repair.Broken); p < RepairedGoal {
		missed = append(missed, fmt.Sprintf("one repair corrects %.1f %% of the broken calls, fewer than %.0f %%", p, RepairedGoal))
	}
	return missed
}

// Print writes the report as text.
func (r *Report) Print(w io.Writer) error {
	var b strings.Builder
	if r.Typical != nil {
		fmt.Fprintf(&b, "graph %s, typical answers, at four bytes a token\n", r.Graph)
		for _, a := range r.Typical.Answers {
			fmt.Fprintf(&b, "  %6d  %s\n", a.Tokens, a.Tool)
		}
		fmt.Fprintf(&b, "  %6d  all together\n", r.Typical.Tokens)
		_, err := io.WriteString(w, b.String())
		return err
	}
	fmt.Fprintf(&b, "graph %s, %d tools, seed %d\n\n", r.Graph, r.Tools, r.Seed)
	fmt.Fprintf(&b, "Tokens, at four bytes a token\n")
	fmt.Fprintf(&b, "  tools/list     %6d\n", r.Tokens.List)
	fmt.Fprintf(&b, "  instructions   %6d\n", r.Tokens.Instructions)
	fmt.Fprintf(&b, "  reading agent  %6d  names, descriptions and input schemas of the set read, and instructions\n", r.Tokens.Reading)
	fmt.Fprintf(&b, "  median answer  %6d\n", r.Tokens.Answer)
	fmt.Fprintf(&b, "  largest answer %6d  %s\n\n", r.Tokens.Largest, r.Tokens.LargestAt)
	fmt.Fprintf(&b, "Found: %d of %d questions have their tool among the first %d (%.1f %%, goal %.0f %%)\n",
		r.Found.Found, r.Found.Questions, reach, percent(r.Found.Found, r.Found.Questions), FoundGoal)
	fmt.Fprintf(&b, "  of the stored queries %d of %d, of the built-in tools %d of %d\n",
		r.Found.StoredFound, r.Found.StoredQuestions, r.Found.Found-r.Found.StoredFound, r.Found.Questions-r.Found.StoredQuestions)
	for _, m := range r.Found.Missed {
		fmt.Fprintf(&b, "  %s\n", m)
	}
	if len(r.Found.Without) > 0 {
		fmt.Fprintf(&b, "  without a @question: %s\n", strings.Join(r.Found.Without, ", "))
	}
	fmt.Fprintf(&b, "\nEasily confused: %d pairs\n", len(r.Confused))
	for _, p := range r.Confused {
		fmt.Fprintf(&b, "  %.2f  %s, %s\n", p.Alike, p.First, p.Second)
	}
	fmt.Fprintf(&b, "\nRepaired: %d of %d broken calls in one step (%.1f %%, goal %.0f %%), %.2f calls until success\n",
		r.Repair.One, r.Repair.Broken, percent(r.Repair.One, r.Repair.Broken), RepairedGoal, r.Repair.Calls)
	for _, way := range r.Repair.Ways {
		fmt.Fprintf(&b, "  %-8s %4d of %4d  %s\n", way.Way, way.One, way.Broken, way.Does)
	}
	for _, f := range r.Repair.Failed {
		took := "not corrected"
		if f.Calls > 0 {
			took = fmt.Sprintf("%d calls", f.Calls)
		}
		fmt.Fprintf(&b, "  %s, %s, %s: %s\n    %s\n", f.Tool, f.Way, took, f.Call, strings.ReplaceAll(f.Fault, "\n", "\n    "))
	}
	for _, u := range r.Untried {
		fmt.Fprintf(&b, "  %s was not tried: %s\n", u.Tool, strings.ReplaceAll(u.Reason, "\n", "\n    "))
	}
	if len(r.Empty) > 0 {
		fmt.Fprintf(&b, "  without data, because the schema refuses what was made up: %s\n", strings.Join(r.Empty, ", "))
	}
	_, err := io.WriteString(w, b.String())
	return err
}
