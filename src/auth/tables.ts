import { boolean, integer, pgTable, text, timestamp } from "drizzle-orm/pg-core";

const instant = (name: string) => timestamp(name, { withTimezone: true, mode: "date" });

const CREATED_AND_UPDATED = {
  createdAt: instant("created_at").notNull(),
  updatedAt: instant("updated_at").notNull(),
};

/**
 * The columns that Better Auth may read and write. It cannot reach those left out (role, ban, preferences),
 * whatever a request contains.
 */
export const TABLES = {
  user: pgTable("user", {
    id: text("id").primaryKey(),
    name: text("name").notNull(),
    email: text("email").notNull(),
    emailVerified: boolean("email_verified").notNull(),
    image: text("image"),
    // Written once, at sign-up: never from a request's body.
    locale: text("locale"),
    twoFactorEnabled: boolean("two_factor_enabled"),
    ...CREATED_AND_UPDATED,
  }),
  session: pgTable("session", {
    id: text("id").primaryKey(),
    userId: text("user_id").notNull(),
    token: text("token").notNull(),
    expiresAt: instant("expires_at").notNull(),
    ipAddress: text("ip_address"),
    userAgent: text("user_agent"),
    ...CREATED_AND_UPDATED,
  }),
  account: pgTable("account", {
    id: text("id").primaryKey(),
    userId: text("user_id").notNull(),
    accountId: text("account_id").notNull(),
    providerId: text("provider_id").notNull(),
    accessToken: text("access_token"),
    refreshToken: text("refresh_token"),
    idToken: text("id_token"),
    accessTokenExpiresAt: instant("access_token_expires_at"),
    refreshTokenExpiresAt: instant("refresh_token_expires_at"),
    scope: text("scope"),
    password: text("password"),
    ...CREATED_AND_UPDATED,
  }),
  twoFactor: pgTable("two_factor", {
    id: text("id").primaryKey(),
    userId: text("user_id").notNull(),
    secret: text("secret").notNull(),
    backupCodes: text("backup_codes").notNull(),
    verified: boolean("verified").notNull(),
    failedVerificationCount: integer("failed_verification_count").notNull(),
    lockedUntil: instant("locked_until"),
  }),
  verification: pgTable("verification", {
    id: text("id").primaryKey(),
    identifier: text("identifier").notNull(),
    value: text("value").notNull(),
    expiresAt: instant("expires_at").notNull(),
    ...CREATED_AND_UPDATED,
  }),
};
