/** PostgreSQL's names for the codes of its errors: documentation, appendix A. */
export const CANNOT_CONNECT_NOW = "57P03";
export const DEADLOCK_DETECTED = "40P01";
export const DUPLICATE_PREPARED_STATEMENT = "42P05";
export const DUPLICATE_TABLE = "42P07";
export const FOREIGN_KEY_VIOLATION = "23503";
export const INSUFFICIENT_PRIVILEGE = "42501";
export const INVALID_AUTHORIZATION = "28000";
export const INVALID_PASSWORD = "28P01";
export const INVALID_SCHEMA_NAME = "3F000";
export const INVALID_SQL_STATEMENT_NAME = "26000";
export const LOCK_NOT_AVAILABLE = "55P03";
export const QUERY_CANCELED = "57014";
export const READ_ONLY_SQL_TRANSACTION = "25006";
export const SERIALIZATION_FAILURE = "40001";
export const UNDEFINED_COLUMN = "42703";
export const UNDEFINED_TABLE = "42P01";
export const UNIQUE_VIOLATION = "23505";
