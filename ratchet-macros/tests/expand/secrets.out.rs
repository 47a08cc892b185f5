#[allow(clippy::unused_async, clippy::needless_pass_by_value)]
async fn login(
    user: String,
    password: String,
    code: Option<ratchet::security::Secret<u32>>,
) {}
/// Arguments of the [`login()`] job.
#[derive(Clone)]
#[must_use = "a job does nothing until it is enqueued"]
#[allow(missing_docs)]
struct Login {
    user: String,
    password: String,
    code: Option<ratchet::security::Secret<u32>>,
}
#[allow(unused_qualifications, unexpected_cfgs)]
const _: () = {
    use ::ratchet::__private as __ratchet;
    #[cfg(rust_analyzer)]
    use __ratchet::options::job::derive as _;
    const __USER: __ratchet::Arg<String> = __ratchet::arg::<String>("user", "String");
    const __PASSWORD: __ratchet::Arg<String> = __ratchet::arg::<
        String,
    >("password", "String")
        .secret();
    const __CODE: __ratchet::Arg<Option<ratchet::security::Secret<u32>>> = __ratchet::arg::<
        Option<ratchet::security::Secret<u32>>,
    >("code", "Option<ratchet::security::Secret<u32>>")
        .secret();
    const __FALLIBLE: bool = false;
    #[automatically_derived]
    impl __ratchet::Job for Login {
        type Output = __ratchet::Output<(), __FALLIBLE>;
        const ARGS: &'static [__ratchet::ArgDef] = &[
            __USER.def(),
            __PASSWORD.def(),
            __CODE.def(),
        ];
        const DEF: __ratchet::JobDef = __ratchet::JobDef::new(
                __ratchet::job_name!("login"),
                __ratchet::here!(),
            )
            .args(Self::ARGS);
        fn encode(&self, args: &mut __ratchet::Encoder) {
            args.put(__USER, &self.user);
            args.put(__PASSWORD, &self.password);
            args.put(__CODE, &self.code);
        }
        fn decode(args: &mut __ratchet::Decoder<'_>) -> __ratchet::Decoded<Self> {
            __ratchet::Result::Ok(Self {
                user: args.take(__USER)?,
                password: args.take(__PASSWORD)?,
                code: args.take(__CODE)?,
            })
        }
        fn run(self, _ctx: __ratchet::JobContext) -> __ratchet::Run {
            __ratchet::Result::Ok(
                __ratchet::run::<
                    __FALLIBLE,
                    (),
                    _,
                    _,
                >(login(self.user, self.password, self.code)),
            )
        }
    }
    impl<__Parent> __ratchet::StepAfter<__Parent> for Login {}
    __ratchet::submit! {
        __ratchet::Registration::of:: < Login > ()
    }
    #[automatically_derived]
    impl __ratchet::fmt::Debug for Login {
        fn fmt(&self, f: &mut __ratchet::fmt::Formatter<'_>) -> __ratchet::fmt::Result {
            f.debug_struct("Login")
                .field("user", &self.user)
                .field("password", &__ratchet::format_args!("***"))
                .field("code", &__ratchet::format_args!("***"))
                .finish()
        }
    }
    __ratchet::constructor! {
        Login(user : impl __ratchet::Into < String >, password : impl __ratchet::Into <
        String >, code : Option < ratchet::security::Secret < u32 > >) { user :
        __ratchet::Into::into(user), password : __ratchet::Into::into(password), code }
    }
};
