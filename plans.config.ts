import { definePlans } from "./src/domain/plans/plan.ts";

/**
 * The plans for sale. Amounts are in the currency's smallest unit, per seat and interval; `priceIds` are the ids of the
 * price at the provider of each slot, or names for them that PLANS_PRICE_IDS maps to the ids of an environment.
 * `features` are what programs ask for and what the pages show, in the reader's language.
 */
export default definePlans([
  {
    id: "free",
    name: "Free",
    price: { amount: 0, currency: "EUR", interval: "month" },
    features: [
      {
        id: "projects",
        kind: "limit",
        value: 1,
        text: { en: "1 project", de: "1 Projekt", es: "1 proyecto", zh: "1 个项目" },
      },
      {
        id: "events",
        kind: "quota",
        value: 1_000,
        text: {
          en: "1,000 events a month",
          de: "1.000 Ereignisse im Monat",
          es: "1000 eventos al mes",
          zh: "每月 1,000 个事件",
        },
      },
      {
        id: "community-support",
        kind: "flag",
        value: true,
        text: {
          en: "Community support",
          de: "Support durch die Community",
          es: "Soporte de la comunidad",
          zh: "社区支持",
        },
      },
    ],
    seats: { min: 1, max: 1 },
    priceIds: {},
  },
  {
    id: "pro",
    name: "Pro",
    price: { amount: 2000, currency: "EUR", interval: "month" },
    features: [
      {
        id: "projects",
        kind: "limit",
        value: 10,
        text: { en: "10 projects", de: "10 Projekte", es: "10 proyectos", zh: "10 个项目" },
      },
      {
        id: "events",
        kind: "quota",
        value: 100_000,
        text: {
          en: "100,000 events per billing period",
          de: "100.000 Ereignisse je Abrechnungszeitraum",
          es: "100.000 eventos por periodo de facturación",
          zh: "每个计费周期 100,000 个事件",
        },
      },
      {
        id: "email-support",
        kind: "flag",
        value: true,
        text: {
          en: "Email support",
          de: "Support per E-Mail",
          es: "Soporte por correo electrónico",
          zh: "邮件支持",
        },
      },
    ],
    seats: { min: 1, max: 5 },
    priceIds: {
      "provider-a": "price_pro_monthly",
      "provider-b": "pri_pro_monthly",
      "provider-c": "prod_pro",
    },
    prices: [
      {
        amount: 20000,
        currency: "EUR",
        interval: "year",
        priceIds: {
          "provider-a": "price_pro_yearly",
          "provider-b": "pri_pro_yearly",
          "provider-c": "prod_pro_yearly",
        },
      },
    ],
    graceDays: 7,
  },
  {
    id: "team",
    name: "Team",
    price: { amount: 1500, currency: "EUR", interval: "month" },
    features: [
      {
        id: "projects",
        kind: "limit",
        value: 100,
        text: { en: "100 projects", de: "100 Projekte", es: "100 proyectos", zh: "100 个项目" },
      },
      {
        id: "events",
        kind: "quota",
        value: 10_000_000,
        text: {
          en: "10,000,000 events per billing period",
          de: "10.000.000 Ereignisse je Abrechnungszeitraum",
          es: "10.000.000 eventos por periodo de facturación",
          zh: "每个计费周期 10,000,000 个事件",
        },
      },
      {
        id: "email-support",
        kind: "flag",
        value: true,
        text: {
          en: "Email support",
          de: "Support per E-Mail",
          es: "Soporte por correo electrónico",
          zh: "邮件支持",
        },
      },
      {
        id: "priority-support",
        kind: "flag",
        value: true,
        text: {
          en: "Priority support",
          de: "Bevorzugter Support",
          es: "Soporte prioritario",
          zh: "优先支持",
        },
      },
    ],
    seats: { min: 5, max: 500 },
    priceIds: {
      "provider-a": "price_team_monthly",
      "provider-b": "pri_team_monthly",
      "provider-c": "prod_team",
    },
    prices: [
      {
        amount: 15000,
        currency: "EUR",
        interval: "year",
        priceIds: {
          "provider-a": "price_team_yearly",
          "provider-b": "pri_team_yearly",
          "provider-c": "prod_team_yearly",
        },
      },
    ],
    graceDays: 14,
  },
]);
