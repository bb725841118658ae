package metatools

import "testing"

// TestOnlyMisspelt lists names, what a caller may be led to, and whether that is surely what the caller meant.
func TestOnlyMisspelt(t *testing.T) {
	for _, tt := range []struct {
		name, meant string
		want        bool
	}{
		{"branch_delete", "branch_delete", true},
		{"branchDelete", "branch_delete", true},
		{"Branch-Delete", "branch_delete", true},
		{"branch_delte", "branch_delete", true},
		{"brnach_delete", "branch_delete", true},
		{"branch_deletee", "branch_delete", true},
		{"branch_merge", "branch_delete", false},
		{"branch_create", "branch_delete", false},
		{"branch_get", "branch_set", false},
		{"get_note", "set_note", false},
		{"delete_note", "delete_node", false},
		{"update_persn", "update_person", true},
		{"remote_person", "remove_person", false},
		{"upadte_persn", "update_person", false},
		{"delete", "branch_delete", false},
		{"", "branch_delete", false},
	} {
		if got := OnlyMisspelt(tt.name, tt.meant); got != tt.want {
			t.Errorf("%s for %s: %v, want %v", tt.name, tt.meant, got, tt.want)
		}
	}
}
