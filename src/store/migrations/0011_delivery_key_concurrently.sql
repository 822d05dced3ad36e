-- Uniqueness by bytes: an index in a locale's order breaks when the operating system's collations change. An operator class
-- and not a collation of the columns: that would break the statements that servers of the release before have prepared.
create unique index concurrently webhook_delivery_key
  on webhook_delivery (provider text_pattern_ops, event_id text_pattern_ops);
