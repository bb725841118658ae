CREATE SCHEMA plant;
SET search_path TO plant;
CREATE TABLE parts (part_no text PRIMARY KEY, description text NOT NULL, source text NOT NULL CHECK (source IN ('make', 'buy', 'phantom')), cost text NOT NULL);
CREATE TABLE bill_of_materials (assembly_part_no text REFERENCES parts, component_part_no text REFERENCES parts, quantity integer NOT NULL CHECK (quantity BETWEEN 1 AND 1000),
	PRIMARY KEY (assembly_part_no, component_part_no));
-- data
ALTER TABLE parts ALTER cost TYPE numeric(10, 2) USING replace(cost, ',', '.')::numeric;
