import { randomUUID } from "node:crypto";
import { expect } from "vitest";
import { bad, type Case, noSuch, PAGES, UNHEARD_OF, WITHOUT_INPUT } from "../case.ts";
import { ADMINISTRATORS, OWNER, OWNER_IN_SESSION, PEOPLE, SESSIONS } from "../who.ts";

export const USERS: Record<string, Case> = {
  "users.me": { scope: "api", may: PEOPLE, asks: WITHOUT_INPUT },
  "users.list": { scope: "api", may: PEOPLE, asks: PAGES },
  "users.search": {
    scope: "api",
    may: ADMINISTRATORS,
    asks: [
      { input: { limit: 1 } },
      { input: ({ people: { owner } }) => ({ search: owner.email }) },
      { input: ({ people: { owner } }) => ({ search: owner.id }) },
      { input: { search: "nobody at all" } },
      bad({ search: "" }),
      bad({ search: "s".repeat(101) }),
      bad({ cursor: "no cursor" }),
    ],
  },
  "users.updateProfile": {
    scope: "settings",
    may: PEOPLE,
    writes: true,
    asks: [
      {
        input: { name: " After " },
        leaves: (_, caller) => ({ people: { [caller]: { person: { name: "After", locale: "en" } } } }),
      },
      {
        input: { locale: "de", preferences: { theme: "dark" } },
        notOn: ["RPC", "forms"],
        leaves: (_, caller) => ({
          people: {
            [caller]: {
              person: {
                name: "Before",
                locale: "de",
                preferences: { theme: "dark", emailNotifications: true },
              },
            },
          },
        }),
      },
      bad({ name: "" }),
      bad({ name: "n".repeat(101) }),
      { input: { name: "After", locale: "tlh" }, refused: "invalid_input", notOn: ["RPC", "forms"] },
      { input: { name: "After", role: "admin" }, refused: "invalid_input", notOn: ["forms"] },
    ],
  },
  "users.setLocale": {
    scope: "settings",
    may: PEOPLE,
    writes: true,
    asks: [
      { input: { locale: "en" } },
      {
        input: { locale: "es" },
        leaves: (_, caller) => ({ people: { [caller]: { person: { locale: "es" } } } }),
      },
      bad({ locale: "tlh" }),
      bad({}),
    ],
  },
  "users.completeOnboarding": {
    scope: "settings",
    may: PEOPLE,
    writes: true,
    asks: [
      { input: {}, leaves: (_, caller) => ({ people: { [caller]: { person: { onboarded: true } } } }) },
      UNHEARD_OF,
    ],
  },
  "users.deleteAccount": {
    scope: "settings",
    // The owner is still being charged by a provider, and none can be told to stop.
    may: { ...SESSIONS, owner: "unavailable" },
    writes: true,
    asks: [
      {
        input: (cast, caller) => ({ confirmation: cast.people[caller].email }),
        leaves: (_, caller) => ({
          people: { [caller]: { person: null, isGone: true, sessions: 0, keys: null } },
        }),
      },
      bad({ confirmation: "somebody-else@example.com" }),
      bad({ confirmation: "" }),
      bad({}),
    ],
  },
  "users.changeRole": {
    scope: "admin",
    may: ADMINISTRATORS,
    writes: true,
    asks: [
      {
        input: ({ people: { other } }) => ({ userId: other.id, role: "admin" }),
        leaves: () => ({
          people: { other: { person: { role: "admin" }, notifications: [{ kind: "role_changed" }] } },
        }),
      },
      { input: () => ({ userId: randomUUID(), role: "admin" }), refused: "not_found" },
      bad({ userId: "", role: "admin" }),
      { input: ({ people: { other } }) => ({ userId: other.id, role: "owner" }), refused: "invalid_input" },
    ],
  },
  "users.delete": {
    scope: "admin",
    may: ADMINISTRATORS,
    writes: true,
    asks: [
      {
        input: ({ people: { other } }) => ({ userId: other.id, confirmation: other.email }),
        leaves: () => ({ people: { other: { person: null, isGone: true, sessions: 0 } } }),
      },
      {
        input: () => ({ userId: randomUUID(), confirmation: "nobody@example.com" }),
        refused: "not_found",
      },
      {
        input: ({ people: { owner } }) => ({ userId: owner.id, confirmation: owner.email }),
        refused: "unavailable",
      },
      {
        input: ({ people: { other, owner } }) => ({ userId: other.id, confirmation: owner.email }),
        refused: "invalid_input",
      },
      bad({ userId: "", confirmation: "somebody@example.com" }),
    ],
  },

  "audit.list": { scope: "admin", may: ADMINISTRATORS, asks: PAGES },

  "apiKeys.list": { scope: "settings", may: PEOPLE, asks: PAGES },
  "apiKeys.create": {
    scope: "settings",
    may: SESSIONS,
    writes: true,
    asks: [
      {
        input: { name: "Made", expiresAt: "2099-01-31T00:00:00Z" },
        leaves: (_, caller) => ({
          people: { [caller]: { keys: expect.arrayContaining([expect.objectContaining({ name: "Made" })]) } },
        }),
      },
      bad({ name: "" }),
      bad({ name: "Made", expiresAt: "tomorrow" }),
      bad({ name: "Made", expiresAt: "2001-01-31T00:00:00Z" }),
      { input: { name: "Made", userId: "somebody else" }, refused: "invalid_input", notOn: ["forms"] },
    ],
  },
  "apiKeys.revoke": {
    scope: "settings",
    may: OWNER_IN_SESSION,
    writes: true,
    asks: [
      {
        input: ({ spareKeyId }) => ({ id: spareKeyId }),
        leaves: ({ spareKeyId }) => ({
          people: {
            owner: {
              keys: expect.arrayContaining([
                expect.objectContaining({ id: spareKeyId, revoked_at: expect.any(String) }),
              ]),
            },
          },
        }),
      },
      noSuch("id"),
      bad({ id: "1" }),
    ],
  },

  "notifications.list": { scope: "api", may: PEOPLE, asks: PAGES },
  "notifications.unreadCount": { scope: "api", may: PEOPLE, asks: WITHOUT_INPUT },
  "notifications.markRead": {
    scope: "api",
    may: OWNER,
    writes: true,
    asks: [
      {
        input: ({ notificationId }) => ({ id: notificationId }),
        leaves: () => ({
          people: { owner: { notifications: [{ read_at: null }, { read_at: expect.any(String) }] } },
        }),
      },
      { input: { id: "999999999999999999" }, refused: "not_found" },
      bad({ id: "0" }),
    ],
  },
  "notifications.markAllRead": {
    scope: "api",
    may: PEOPLE,
    writes: true,
    asks: [
      {
        input: {},
        leaves: (_, caller) => {
          const read = { read_at: expect.any(String) };
          return caller === "owner" ? { people: { owner: { notifications: [read, read] } } } : {};
        },
      },
      UNHEARD_OF,
    ],
  },
};
