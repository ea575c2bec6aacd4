//! An authority of the test's own, which the operating system is made to trust.
//!
//! On Linux, whom it trusts is read once in a process, from where an environment variable says. A test that needs that to be this
//! authority is run again in a process of its own, while the first keeps the servers.

use std::sync::Arc;

use rcgen::{BasicConstraints, CertificateParams, IsCa, Issuer, KeyPair};
use tokio::process::Command;
use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::ServerConfig;
use tokio_rustls::rustls::crypto::aws_lc_rs::default_provider;
use tokio_rustls::rustls::pki_types::PrivateKeyDer;

const CHILD: &str = "TURNFRAME_TLS_ADDRESSES";

/// What the first process told this one, where this is not the first.
pub(crate) fn addresses() -> Option<Vec<String>> {
    let told = std::env::var(CHILD).ok()?;
    Some(told.split(' ').map(str::to_owned).collect())
}

/// An authority.
pub(crate) struct Authority {
    issuer: Issuer<'static, KeyPair>,
    pem: String,
}

impl Authority {
    pub(crate) fn new() -> Self {
        let mut params = CertificateParams::new(Vec::new()).expect("no names");
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let key = KeyPair::generate().expect("a key");
        let pem = params.self_signed(&key).expect("a certificate").pem();
        Self { issuer: Issuer::new(params, key), pem }
    }

    /// The server's side of TLS for 127.0.0.1, vouched for by this authority.
    pub(crate) fn acceptor(&self) -> TlsAcceptor {
        let params = CertificateParams::new(vec!["127.0.0.1".to_owned()]).expect("an address");
        let key = KeyPair::generate().expect("a key");
        let certificate = params.signed_by(&key, &self.issuer).expect("a certificate");
        let key = PrivateKeyDer::try_from(key.serialize_der()).expect("a key");
        let config = ServerConfig::builder_with_provider(Arc::new(default_provider()))
            .with_safe_default_protocol_versions()
            .expect("TLS")
            .with_no_client_auth()
            .with_single_cert(vec![certificate.der().clone()], key);
        TlsAcceptor::from(Arc::new(config.expect("a certificate and its key")))
    }

    /// Runs a test again where this authority is trusted and no other, and tells it where the servers are.
    pub(crate) async fn trusted_in(&self, test: &str, addresses: &[String]) {
        let directory = tempfile::tempdir().expect("a directory");
        let trusted = directory.path().join("trusted.pem");
        std::fs::write(&trusted, &self.pem).expect("written");
        let child = Command::new(std::env::current_exe().expect("this test"))
            .args(["--exact", test])
            .env("SSL_CERT_FILE", &trusted)
            .env_remove("SSL_CERT_DIR")
            .env(CHILD, addresses.join(" "))
            .output();
        let output = child.await.expect("it ran");
        let said = String::from_utf8_lossy(&output.stdout);
        assert!(output.status.success() && said.contains("1 passed"), "{said}");
    }
}
