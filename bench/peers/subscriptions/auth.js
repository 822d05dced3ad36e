import { betterAuth } from "better-auth";
import { drizzleAdapter } from "better-auth/adapters/drizzle";
import { drizzle } from "drizzle-orm/node-postgres";
import { boolean, pgTable, text, timestamp } from "drizzle-orm/pg-core";
import { pool } from "./database.js";

const instant = (name) => timestamp(name, { withTimezone: true, mode: "date" });
const createdAndUpdated = {
  createdAt: instant("created_at").notNull(),
  updatedAt: instant("updated_at").notNull(),
};

const user = pgTable("user", {
  id: text("id").primaryKey(),
  name: text("name").notNull(),
  email: text("email").notNull(),
  emailVerified: boolean("email_verified").notNull(),
  image: text("image"),
  ...createdAndUpdated,
});

const session = pgTable("session", {
  id: text("id").primaryKey(),
  userId: text("user_id").notNull(),
  token: text("token").notNull(),
  expiresAt: instant("expires_at").notNull(),
  ipAddress: text("ip_address"),
  userAgent: text("user_agent"),
  ...createdAndUpdated,
});

const account = pgTable("account", {
  id: text("id").primaryKey(),
  accountId: text("account_id").notNull(),
  providerId: text("provider_id").notNull(),
  userId: text("user_id").notNull(),
  accessToken: text("access_token"),
  refreshToken: text("refresh_token"),
  idToken: text("id_token"),
  accessTokenExpiresAt: instant("access_token_expires_at"),
  refreshTokenExpiresAt: instant("refresh_token_expires_at"),
  scope: text("scope"),
  password: text("password"),
  ...createdAndUpdated,
});

const verification = pgTable("verification", {
  id: text("id").primaryKey(),
  identifier: text("identifier").notNull(),
  value: text("value").notNull(),
  expiresAt: instant("expires_at").notNull(),
  ...createdAndUpdated,
});

const schema = { user, session, account, verification };

/** As its documentation says. `experimental.joins` was tried: the one statement costs more than the two that it replaces. */
export const auth = betterAuth({
  baseURL: process.env.APP_URL,
  secret: process.env.AUTH_SECRET,
  database: drizzleAdapter(drizzle({ client: pool, schema }), { provider: "pg", schema }),
  emailAndPassword: { enabled: true },
  session: { cookieCache: { enabled: process.env.COOKIE_CACHE === "on", maxAge: 60 * 60 } },
  // The route has a limiter of its own.
  rateLimit: { enabled: false },
  telemetry: { enabled: false },
  logger: { level: "error" },
});
