-- When somebody was told that a service key expires soon.
alter table service_key add column expiry_notified_at timestamptz;
