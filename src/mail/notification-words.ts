import type { Locale } from "../domain/locale.ts";
import type { NotificationKind } from "../domain/notification.ts";

/** What is put into a sentence. Names that people give are not among it: a mail says nothing that a stranger has written. */
export type Facts = { plan: string; from: string; to: string; prefix: string; isAdministrator: boolean };

type Words = {
  /** Of a mail that tells one thing. Without facts. */
  subjects: Record<NotificationKind, string>;
  severalSubject: string;
  sentences: Record<NotificationKind, (facts: Facts) => string>;
  more(count: number): string;
  look: string;
  switchOff: string;
};

export const NOTIFICATION_WORDS: Record<Locale, Words> = {
  en: {
    subjects: {
      subscription_activated: "Your subscription is active",
      subscription_plan_changed: "Your plan has changed",
      subscription_past_due: "A payment did not go through",
      subscription_canceled: "Your subscription has ended",
      api_key_created: "An API key was created",
      role_changed: "Your role has changed",
      api_key_expiring: "An API key expires soon",
      password_changed: "Your password has changed",
      email_changed: "Your e-mail address has changed",
      payment_undone: "A payment was undone",
    },
    severalSubject: "News of your account",
    sentences: {
      subscription_activated: ({ plan }) => `Your ${plan} subscription is active.`,
      subscription_plan_changed: ({ from, to }) => `Your plan changed from ${from} to ${to}.`,
      subscription_past_due: ({ plan }) =>
        `A payment for ${plan} did not go through. Check your payment method.`,
      subscription_canceled: ({ plan }) => `Your ${plan} subscription has ended.`,
      api_key_created: ({ prefix }) => `An API key (${prefix}…) was created for your account.`,
      role_changed: ({ isAdministrator }) =>
        isAdministrator ? "You are an administrator now." : "You are no longer an administrator.",
      api_key_expiring: ({ prefix }) => `The API key ${prefix}… expires within 14 days.`,
      password_changed: () => "Your password has changed. If it was not you, reset it.",
      email_changed: () => "The e-mail address of your account has changed.",
      payment_undone: () =>
        "A subscription was paid for after its account was deleted, or twice. It was canceled; check the refund at the provider.",
    },
    more: (count) => `And ${count} more.`,
    look: "See here:",
    switchOff: "You get such mails because notifications by e-mail are switched on. Switch them off here:",
  },
  de: {
    subjects: {
      subscription_activated: "Ihr Abonnement ist aktiv",
      subscription_plan_changed: "Ihr Tarif hat gewechselt",
      subscription_past_due: "Eine Zahlung ist fehlgeschlagen",
      subscription_canceled: "Ihr Abonnement ist beendet",
      api_key_created: "Ein API-Schlüssel wurde angelegt",
      role_changed: "Ihre Rolle hat gewechselt",
      api_key_expiring: "Ein API-Schlüssel läuft bald ab",
      password_changed: "Ihr Passwort wurde geändert",
      email_changed: "Ihre E-Mail-Adresse wurde geändert",
      payment_undone: "Eine Zahlung wurde rückgängig gemacht",
    },
    severalSubject: "Neues von Ihrem Konto",
    sentences: {
      subscription_activated: ({ plan }) => `Ihr Abonnement ${plan} ist aktiv.`,
      subscription_plan_changed: ({ from, to }) => `Ihr Tarif hat von ${from} zu ${to} gewechselt.`,
      subscription_past_due: ({ plan }) =>
        `Eine Zahlung für ${plan} ist fehlgeschlagen. Prüfen Sie Ihr Zahlungsmittel.`,
      subscription_canceled: ({ plan }) => `Ihr Abonnement ${plan} ist beendet.`,
      api_key_created: ({ prefix }) => `Für Ihr Konto wurde ein API-Schlüssel (${prefix}…) angelegt.`,
      role_changed: ({ isAdministrator }) =>
        isAdministrator ? "Sie sind jetzt Administrator." : "Sie sind kein Administrator mehr.",
      api_key_expiring: ({ prefix }) => `Der API-Schlüssel ${prefix}… läuft in den nächsten 14 Tagen ab.`,
      password_changed: () => "Ihr Passwort wurde geändert. Wenn Sie das nicht waren, setzen Sie es zurück.",
      email_changed: () => "Die E-Mail-Adresse Ihres Kontos wurde geändert.",
      payment_undone: () =>
        "Ein Abonnement wurde nach der Löschung des Kontos oder doppelt bezahlt. Es wurde gekündigt; prüfen Sie die Erstattung beim Anbieter.",
    },
    more: (count) => `Und ${count} mehr.`,
    look: "Mehr dazu:",
    switchOff:
      "Sie erhalten solche Mails, weil Benachrichtigungen per E-Mail eingeschaltet sind. Hier schalten Sie sie aus:",
  },
  es: {
    subjects: {
      subscription_activated: "Tu suscripción está activa",
      subscription_plan_changed: "Tu plan ha cambiado",
      subscription_past_due: "Un pago no se pudo cobrar",
      subscription_canceled: "Tu suscripción ha terminado",
      api_key_created: "Se creó una clave de API",
      role_changed: "Tu rol ha cambiado",
      api_key_expiring: "Una clave de API caduca pronto",
      password_changed: "Tu contraseña ha cambiado",
      email_changed: "Tu correo electrónico ha cambiado",
      payment_undone: "Se deshizo un pago",
    },
    severalSubject: "Novedades de tu cuenta",
    sentences: {
      subscription_activated: ({ plan }) => `Tu suscripción ${plan} está activa.`,
      subscription_plan_changed: ({ from, to }) => `Tu plan ha cambiado de ${from} a ${to}.`,
      subscription_past_due: ({ plan }) => `Un pago de ${plan} no se pudo cobrar. Revisa tu método de pago.`,
      subscription_canceled: ({ plan }) => `Tu suscripción ${plan} ha terminado.`,
      api_key_created: ({ prefix }) => `Se creó una clave de API (${prefix}…) en tu cuenta.`,
      role_changed: ({ isAdministrator }) =>
        isAdministrator
          ? "Ahora tienes permisos de administración."
          : "Ya no tienes permisos de administración.",
      api_key_expiring: ({ prefix }) => `La clave de API ${prefix}… caduca en los próximos 14 días.`,
      password_changed: () => "Tu contraseña ha cambiado. Si no fuiste tú, restablécela.",
      email_changed: () => "El correo electrónico de tu cuenta ha cambiado.",
      payment_undone: () =>
        "Se pagó una suscripción después de eliminar la cuenta, o dos veces. Se canceló; comprueba el reembolso en el proveedor.",
    },
    more: (count) => `Y ${count} más.`,
    look: "Más información:",
    switchOff:
      "Recibes estos correos porque las notificaciones por correo están activadas. Puedes desactivarlas aquí:",
  },
  zh: {
    subjects: {
      subscription_activated: "您的订阅已生效",
      subscription_plan_changed: "您的套餐已更改",
      subscription_past_due: "一次付款未成功",
      subscription_canceled: "您的订阅已结束",
      api_key_created: "已创建 API 密钥",
      role_changed: "您的角色已更改",
      api_key_expiring: "API 密钥即将过期",
      password_changed: "您的密码已更改",
      email_changed: "您的电子邮件地址已更改",
      payment_undone: "一笔付款已撤销",
    },
    severalSubject: "您的账户有新通知",
    sentences: {
      subscription_activated: ({ plan }) => `您的 ${plan} 订阅已生效。`,
      subscription_plan_changed: ({ from, to }) => `您的套餐已从 ${from} 更改为 ${to}。`,
      subscription_past_due: ({ plan }) => `${plan} 的一次付款未成功，请检查付款方式。`,
      subscription_canceled: ({ plan }) => `您的 ${plan} 订阅已结束。`,
      api_key_created: ({ prefix }) => `您的账户已创建 API 密钥（${prefix}…）。`,
      role_changed: ({ isAdministrator }) => (isAdministrator ? "您现在是管理员。" : "您不再是管理员。"),
      api_key_expiring: ({ prefix }) => `API 密钥 ${prefix}… 将在 14 天内过期。`,
      password_changed: () => "您的密码已更改。如果不是您本人操作，请重置密码。",
      email_changed: () => "您账户的电子邮件地址已更改。",
      payment_undone: () => "有订阅在账户删除后付款，或被重复付款。订阅已取消；请在服务商处检查退款。",
    },
    more: (count) => `另有 ${count} 条。`,
    look: "查看：",
    switchOff: "您收到此邮件，是因为已开启邮件通知。可在此关闭：",
  },
};
