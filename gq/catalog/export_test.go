package catalog

// Spell writes an element as a schema does.
var Spell = spell
