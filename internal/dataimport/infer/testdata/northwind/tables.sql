SET datestyle = 'ISO, DMY';
CREATE TABLE categories (category_id smallint PRIMARY KEY, category_name varchar(15) NOT NULL, description text);
CREATE TABLE customers (customer_id char(5) PRIMARY KEY, company_name varchar(40) NOT NULL UNIQUE, city varchar(15), country varchar(15));
CREATE TABLE employees (employee_id smallint PRIMARY KEY, first_name varchar(10) NOT NULL, birth_date date, reports_to smallint REFERENCES employees);
CREATE TABLE products (product_id smallint PRIMARY KEY, product_name varchar(40) NOT NULL, category_id smallint REFERENCES categories,
	unit_price numeric(10, 2) NOT NULL CHECK (unit_price >= 0), discontinued boolean NOT NULL);
CREATE TABLE orders (order_id integer PRIMARY KEY, customer_id char(5) NOT NULL REFERENCES customers, employee_id smallint REFERENCES employees,
	order_date date NOT NULL, shipped_date date, freight real);
CREATE TABLE order_details (order_id integer REFERENCES orders, product_id smallint REFERENCES products,
	unit_price numeric(10, 2) NOT NULL, quantity smallint NOT NULL CHECK (quantity > 0), PRIMARY KEY (order_id, product_id));
-- data
COMMENT ON TABLE orders IS 'what customers ordered';
