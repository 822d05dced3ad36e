-- When the administrators were notified of one that could not be canceled.
alter table unwanted_subscription add column reported_at timestamptz;
