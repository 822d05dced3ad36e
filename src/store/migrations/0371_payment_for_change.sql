-- Whether a payment is for a change within a period, where its provider names no period: Lemon Squeezy's.
alter table payment add column is_for_change boolean not null default false;
