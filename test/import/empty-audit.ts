/** Past the trigger that keeps the log, as only a superuser can. */
export const EMPTY_AUDIT =
  "do $$ begin set local session_replication_role = replica; truncate audit_entry; end $$";
