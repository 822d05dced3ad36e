-- Verification names the last event that touched a payment. NULL: recorded before this column, or by a repair.
alter table payment add column last_event_id text;
alter table payment_reversal add column last_event_id text;
