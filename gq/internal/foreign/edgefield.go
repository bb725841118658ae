package foreign
